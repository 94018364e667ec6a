from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import jsonschema
import numpy as np
import pytest

from dialoom.automata import Round, TagSequence, learn_paper
from dialoom.automata.format import dumps, from_parts, loads, schema, to_parts
from dialoom.errors import InvalidFile
from dialoom.files import pack_array

SEQUENCES = [
    TagSequence(f"d{n}", (Round("user", ("hello", "<b>\u2028")), Round("system", (tag,)), Round("user", ("bye",))))
    for n, tag in enumerate(("ask", "ask", "téll", '"quote"'))
]
AUTOMATON = learn_paper(SEQUENCES, tau=0)
DOCUMENT: dict[str, Any] = json.loads(dumps(AUTOMATON))


def test_that_what_is_written_is_read_back() -> None:
    assert loads(dumps(AUTOMATON)) == AUTOMATON
    assert from_parts(to_parts(AUTOMATON)) == AUTOMATON


def test_that_equal_automata_give_equal_bytes() -> None:
    again = learn_paper(reversed(SEQUENCES), tau=0)

    assert dumps(again) == dumps(AUTOMATON)
    assert to_parts(again) == to_parts(AUTOMATON)


def test_that_what_is_written_obeys_the_published_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(DOCUMENT, schema(), cls=jsonschema.Draft202012Validator)


def changed(path: tuple[str | int, ...], value: object) -> str:
    document = deepcopy(DOCUMENT)
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document)


BY_SCHEMA: list[tuple[tuple[str | int, ...], object, str]] = [
    (("format",), "other", "format"),
    (("version",), 2, "version"),
    (("version",), True, "version"),
    (("surprise",), 1, "surprise"),
    (("states",), {}, "states"),
    (("states",), [], "states"),
    (("states", 1), 7, "states[1]"),
    (("states", 1, "name"), None, "states[1].name"),
    (("states", 1, "colour"), "red", "colour"),
    (("states", 2, "count"), -1, "states[2].count"),
    (("states", 2, "count"), 1.5, "states[2].count"),
    (("states", 2, "ends"), "2", "states[2].ends"),
    (("states", 0, "samples"), ["a"] * 101, "states[0].samples"),
    (("states", 0, "samples"), [1], "states[0].samples"),
    (("transitions",), None, "transitions"),
    (("transitions", 0), [0, "user:x", 1], "transitions[0]"),
    (("transitions", 0, 0), -1, "transitions[0]"),
    (("transitions", 0, 1), 5, "transitions[0]"),
    (("transitions", 0, 3), 2**31, "transitions[0]"),
    (("dialogues",), ["a", 1], "dialogues"),
    (("visits",), "none", "visits"),
    (("visits", 1), {"a": 1}, "visits[1]"),
    (("visits", 1), [0, "0"], "visits[1]"),
    (("visits", 1), [0, -2], "visits[1]"),
    (("visits", 1), [0, 2**40], "visits[1]"),
    (("metadata",), [], "metadata"),
]


@pytest.mark.parametrize(("path", "value", "place"), BY_SCHEMA)
def test_that_a_broken_document_is_refused_by_reader_and_schema(
    path: tuple[str | int, ...], value: object, place: str
) -> None:
    with pytest.raises(InvalidFile) as caught:
        loads(changed(path, value), source="a.json")

    assert place in str(caught.value)
    assert str(caught.value).startswith("a.json")
    document = json.loads(changed(path, value))
    assert not jsonschema.Draft202012Validator(schema()).is_valid(document)


BEYOND_SCHEMA: list[tuple[tuple[str | int, ...], object, str]] = [
    (("states", 1, "name"), "start", "share a name"),
    (("transitions", 0, 2), 99, "transitions[0][2]"),
    (("transitions", 1), DOCUMENT["transitions"][0], "two transitions on one symbol"),
    (("visits", 1), [0], "visits[1]"),
    (("visits", 1), [99, 0], "visits"),
    (("visits",), [], "visits"),
    (("metadata",), {"a": [[[[[[[[1]]]]]]]]}, "more than 8 levels deep"),
]


@pytest.mark.parametrize(("path", "value", "place"), BEYOND_SCHEMA)
def test_that_what_a_schema_cannot_say_is_checked_too(path: tuple[str | int, ...], value: object, place: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        loads(changed(path, value))

    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "not JSON|too deeply"),
        ('{"format": NaN}', "NaN"),
        ("{}", "format"),
    ],
)
def test_that_a_file_of_something_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidFile, match=problem):
        loads(text)


def test_that_a_missing_field_is_named() -> None:
    document = deepcopy(DOCUMENT)
    del document["states"][3]["tag"]

    with pytest.raises(InvalidFile, match=r"states\[3\]: field 'tag' is missing"):
        loads(json.dumps(document))


@pytest.mark.parametrize("name", sorted(to_parts(AUTOMATON)))
def test_that_missing_and_broken_parts_are_named(name: str) -> None:
    parts = to_parts(AUTOMATON)

    with pytest.raises(InvalidFile, match="missing") as caught:
        from_parts({key: value for key, value in parts.items() if key != name})
    assert name in str(caught.value)
    with pytest.raises(InvalidFile):
        from_parts({**parts, name: b"\xff{"})


@pytest.mark.parametrize(
    ("name", "vector"),
    [
        ("visit_offsets.npy", np.zeros(3, dtype=np.int64)),
        ("visit_offsets.npy", np.asarray([5, 4, 3, 2, 1, 0], dtype=np.int64)),
        ("visit_round.npy", np.zeros(2, dtype=np.int32)),
        ("visit_dialogue.npy", np.zeros((2, 2), dtype=np.int32)),
        ("visit_dialogue.npy", np.zeros(len(AUTOMATON.visit_dialogue), dtype=np.float64)),
        ("visit_dialogue.npy", np.full(len(AUTOMATON.visit_dialogue), 99, dtype=np.int32)),
    ],
)
def test_that_arrays_that_do_not_fit_are_refused(name: str, vector: np.ndarray[Any, Any]) -> None:
    with pytest.raises(InvalidFile, match="visit"):
        from_parts({**to_parts(AUTOMATON), name: pack_array(vector)})


def test_that_a_text_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialoom.automata.format.MAX_BYTES", 10)

    with pytest.raises(InvalidFile, match="at most 10"):
        loads(dumps(AUTOMATON))
