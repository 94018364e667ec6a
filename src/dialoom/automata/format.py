"""The automaton file: versioned JSON by a published schema, data only; and the same as parts of a model archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any, NoReturn

import numpy as np

from dialoom.automata.automaton import Automaton, State, Transition
from dialoom.automata.encoding import Ids, Ints, offsets
from dialoom.errors import InvalidFile
from dialoom.files import MAX_BYTES, Parts, pack_array, pack_json, unpack_array

FORMAT = "dialoom-automaton"
VERSION = 1
MAX_DEPTH = 8
MAX_NUMBER = 2**31 - 1
MAX_SAMPLES = 100
STATE_FIELDS = frozenset({"name", "role", "tag", "count", "ends", "samples"})
FIELDS = frozenset({"format", "version", "states", "transitions", "dialogues", "visits", "metadata"})

Fail = Callable[[str, str], NoReturn]
"""Raises `InvalidFile` for a place and a problem."""


def schema() -> dict[str, Any]:
    """The published JSON Schema of the format."""
    text = resources.files("dialoom.automata").joinpath(f"schema/automaton-{VERSION}.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def dumps(automaton: Automaton) -> str:
    """The automaton as JSON text; equal automata give equal text. Its metadata must be plain JSON."""
    pairs = np.stack((automaton.visit_dialogue, automaton.visit_round), axis=1).ravel().tolist()
    cuts = (automaton.visit_offsets * 2).tolist()
    document = _outline(automaton)
    document["dialogues"] = list(automaton.dialogues)
    document["visits"] = [pairs[cuts[state] : cuts[state + 1]] for state in range(len(automaton))]
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def loads(text: str, *, source: object = "automaton") -> Automaton:
    """Read what `dumps` wrote. `source` names the file in messages.

    Raises `InvalidFile`, naming the place, for text that is too large, not JSON, of another format or version, or not
    an automaton.
    """
    if len(text) > MAX_BYTES:
        raise InvalidFile(source, f"{len(text)} characters, and at most {MAX_BYTES} are read.")
    fail = _failure(source)
    document = _parse(text, fail)
    _expect(set(document) <= FIELDS, fail, "top level", f"unknown field '{_first(set(document) - FIELDS)}'.")
    outline = _read_outline(document, fail)
    dialogues = _strings(document.get("dialogues"), fail, "dialogues")
    visits: Any = document.get("visits")
    _expect(isinstance(visits, list), fail, "visits", "not a list.")
    _expect(
        len(visits) == len(outline.states), fail, "visits", f"{len(visits)} lists for {len(outline.states)} states."
    )
    for state, flat in enumerate(visits):
        good = isinstance(flat, list) and len(flat) % 2 == 0 and all(type(number) is int for number in flat)
        _expect(good, fail, f"visits[{state}]", "not a list of pairs of whole numbers.")
        _expect(all(-1 <= n <= MAX_NUMBER for n in flat), fail, f"visits[{state}]", "a number is out of range.")
    pairs = np.asarray([number for flat in visits for number in flat], dtype=np.int32).reshape(-1, 2)
    cuts = offsets(np.asarray([len(flat) // 2 for flat in visits], dtype=np.int64))
    return _with_visits(outline, dialogues, cuts, pairs[:, 0].copy(), pairs[:, 1].copy(), fail)


def to_parts(automaton: Automaton) -> dict[str, bytes]:
    """The automaton as parts of an archive: `automaton.json` without the visits, and these as arrays."""
    document = _outline(automaton)
    return {
        "automaton.json": pack_json(document),
        "dialogues.json": pack_json(list(automaton.dialogues)),
        "visit_offsets.npy": pack_array(automaton.visit_offsets),
        "visit_dialogue.npy": pack_array(automaton.visit_dialogue),
        "visit_round.npy": pack_array(automaton.visit_round),
    }


def from_parts(parts: Parts, *, source: object = "automaton") -> Automaton:
    """Read what `to_parts` made. Raises `InvalidFile` for parts that are missing or broken."""
    fail = _failure(source)
    for name in ("automaton.json", "dialogues.json"):
        _expect(name in parts, fail, name, "this entry is missing.")
    outline = _read_outline(_parse(_decoded(parts, "automaton.json", fail), fail), fail)
    dialogues = _strings(_json(_decoded(parts, "dialogues.json", fail), fail), fail, "dialogues.json")
    cuts, dialogue, round_ = (unpack_array(parts, f"visit_{name}.npy") for name in ("offsets", "dialogue", "round"))
    for name, vector, kind in (
        ("offsets", cuts, np.int64),
        ("dialogue", dialogue, np.int32),
        ("round", round_, np.int32),
    ):
        _expect(
            vector.ndim == 1 and vector.dtype == kind, fail, f"visit_{name}.npy", f"not a vector of {np.dtype(kind)}."
        )
    ordered = len(cuts) == len(outline.states) + 1 and cuts[0] == 0 and bool((np.diff(cuts) >= 0).all())
    _expect(ordered and cuts[-1] == len(dialogue), fail, "visit_offsets.npy", "does not cut the visits by state.")
    return _with_visits(outline, dialogues, cuts, dialogue, round_, fail)


def _outline(automaton: Automaton) -> dict[str, Any]:
    """The document without dialogues and visits."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "states": [
            {
                "name": state.name,
                "role": state.role,
                "tag": state.tag,
                "count": state.count,
                "ends": state.ends,
                "samples": list(state.samples),
            }
            for state in automaton.states
        ],
        "transitions": [list(transition) for transition in automaton.transitions],
        "metadata": dict(automaton.metadata),
    }


def _failure(source: object) -> Fail:
    def fail(place: str, problem: str) -> NoReturn:
        raise InvalidFile(source, problem, place=place)

    return fail


def _expect(condition: bool, fail: Fail, place: str, problem: str) -> None:
    if not condition:
        fail(place, problem)


def _first(names: set[str]) -> str:
    return min(names, default="")


def _decoded(parts: Parts, name: str, fail: Fail) -> str:
    try:
        return parts[name].decode("utf-8")
    except UnicodeDecodeError as error:
        fail(name, f"not UTF-8 text ({error.reason} at byte {error.start}).")


def _json(text: str, fail: Fail) -> Any:
    def constant(name: str) -> NoReturn:
        fail("top level", f"{name} is not a JSON number.")

    try:
        return json.loads(text, parse_constant=constant)
    except RecursionError:
        fail("top level", "nested too deeply.")
    except ValueError as error:
        fail("top level", f"not JSON ({error}).")


def _parse(text: str, fail: Fail) -> dict[str, Any]:
    """The document, of this format and version."""
    document = _json(text, fail)
    _expect(isinstance(document, dict), fail, "top level", "not a JSON object.")
    _expect(document.get("format") == FORMAT, fail, "format", f"not '{FORMAT}'.")
    version = document.get("version")
    _expect(
        type(version) is int and version == VERSION, fail, "version", f"{version!r}, and only {VERSION} can be read."
    )
    checked: dict[str, Any] = document
    return checked


def _read_outline(document: Mapping[str, Any], fail: Fail) -> Automaton:
    """States, transitions and metadata, as an automaton without visits."""
    for name in ("states", "transitions"):
        _expect(isinstance(document.get(name), list), fail, name, "not a list.")
    metadata: Any = document.get("metadata")
    _expect(isinstance(metadata, dict), fail, "metadata", "not an object.")
    _expect(_shallow(metadata, MAX_DEPTH), fail, "metadata", f"more than {MAX_DEPTH} levels deep.")
    states = tuple(_state(number, entry, fail) for number, entry in enumerate(document["states"]))
    _expect(len(states) > 0, fail, "states", "empty, and an automaton has a start state.")
    _expect(len({state.name for state in states}) == len(states), fail, "states", "two states share a name.")
    transitions = tuple(_transition(k, entry, len(states), fail) for k, entry in enumerate(document["transitions"]))
    keys = {(source, name) for source, name, _, _ in transitions}
    _expect(len(keys) == len(transitions), fail, "transitions", "a state has two transitions on one symbol.")
    none = np.zeros(0, dtype=np.int32)
    nowhere = np.zeros(len(states) + 1, dtype=np.int64)
    return Automaton(states, transitions, (), nowhere, none, none, metadata)


def _state(number: int, entry: Any, fail: Fail) -> State:
    place = f"states[{number}]"
    _expect(isinstance(entry, dict), fail, place, "not an object.")
    wrong = _first(set(entry) ^ STATE_FIELDS)
    _expect(not wrong, fail, place, f"field '{wrong}' is {'unknown' if wrong in entry else 'missing'}.")
    for name in ("name", "role", "tag"):
        _expect(isinstance(entry[name], str), fail, f"{place}.{name}", "not a string.")
    for name in ("count", "ends"):
        _expect(_is_number(entry[name]), fail, f"{place}.{name}", f"not a whole number from 0 to {MAX_NUMBER}.")
    samples = _strings(entry["samples"], fail, f"{place}.samples")
    _expect(len(samples) <= MAX_SAMPLES, fail, f"{place}.samples", f"more than {MAX_SAMPLES}.")
    return State(number, entry["name"], entry["role"], entry["tag"], entry["count"], entry["ends"], samples)


def _transition(number: int, entry: Any, states: int, fail: Fail) -> Transition:
    place = f"transitions[{number}]"
    _expect(isinstance(entry, list) and len(entry) == 4, fail, place, "not [source, symbol, target, traffic].")
    source, name, target, traffic = entry
    _expect(isinstance(name, str), fail, f"{place}[1]", "not a string.")
    for at, end in ((0, source), (2, target)):
        _expect(_is_number(end) and end < states, fail, f"{place}[{at}]", f"not a state from 0 to {states - 1}.")
    _expect(_is_number(traffic), fail, f"{place}[3]", f"not a whole number from 0 to {MAX_NUMBER}.")
    return Transition(source, name, target, traffic)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_NUMBER


def _strings(value: Any, fail: Fail, place: str) -> tuple[str, ...]:
    _expect(
        isinstance(value, list) and all(isinstance(item, str) for item in value), fail, place, "not a list of strings."
    )
    return tuple(value)


def _shallow(value: object, levels: int) -> bool:
    if isinstance(value, dict | list):
        inner: Sequence[object] = list(value.values()) if isinstance(value, dict) else value
        return levels > 0 and all(_shallow(item, levels - 1) for item in inner)
    return True


def _with_visits(
    outline: Automaton, dialogues: tuple[str, ...], cuts: Ints, dialogue: Ids, round_: Ids, fail: Fail
) -> Automaton:
    _expect(len(dialogue) == len(round_), fail, "visits", "as many rounds as dialogues are needed.")
    if len(dialogue):
        inside = dialogue.min() >= 0 and dialogue.max() < len(dialogues) and round_.min() >= -1
        _expect(bool(inside), fail, "visits", f"not all are of dialogues 0 to {len(dialogues) - 1} from round -1 on.")
    return replace(outline, dialogues=dialogues, visit_offsets=cuts, visit_dialogue=dialogue, visit_round=round_)
