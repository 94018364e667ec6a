from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from dialoom.automata import Automaton, Round, TagSequence, learn_paper
from dialoom.automata.exports import FORMATS, export, view
from dialoom.automata.exports.layout import COLUMN, layout
from dialoom.errors import MissingExtra, UnknownName, UsageError

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "';alert(1);//",
    "]]>&lt;!--",
    "\x00\x08\x1b[31m\ud800",
    "\u202egnp.exe",
    'a"b\\"; } node [x=y',
    "line\nbreak\r\n\t`${alert(1)}`",
    "$\\frac{1}$ %s {0} @@DATA@@",
    "end\n  s0 --> s1; click s0 callback",
    "日本語 😀 été",
    "x" * 5000,
]


def talk(name: str, *tags: str) -> TagSequence:
    return TagSequence(name, tuple(Round("user" if k % 2 == 0 else "system", (tag,)) for k, tag in enumerate(tags)))


def hostile() -> Automaton:
    automaton = learn_paper([talk(f"d{k}", text, text, "bye") for k, text in enumerate(HOSTILE)], tau=0)
    return replace(automaton, states=tuple(replace(s, samples=tuple(HOSTILE)) for s in automaton.states))


AUTOMATON = learn_paper(
    [
        *(talk(f"a{k}", "hello", "ask", "answer", "bye") for k in range(12)),
        *(talk(f"b{k}", "hello", "offer") for k in range(6)),
        *(talk(f"c{k}", "complaint", "sorry") for k in range(3)),
    ],
    tau=0,
    threshold=1.0,
)


class Page(HTMLParser):
    """The elements of a page, and what its scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts.append(data)


def test_that_a_view_keeps_states_near_the_start_that_enough_dialogues_pass() -> None:
    assert [state.tag for state in view(AUTOMATON, max_depth=1).states] == ["", "hello", "complaint"]
    shown = view(AUTOMATON, min_dialogues=6)
    assert [state.tag for state in shown.states] == ["", "hello", "ask", "offer", "answer", "bye"]
    assert shown.hidden == 2
    assert all(state.count >= 6 for state in shown.states)
    assert {t.target for t in shown.transitions} == {state.id for state in shown.states} - {0}


def test_that_a_limited_view_keeps_the_busiest_states_reached_by_states_shown() -> None:
    shown = view(AUTOMATON, max_states=3)

    assert [state.tag for state in shown.states] == ["", "hello", "ask"]
    assert view(AUTOMATON, max_depth=0).transitions == ()


@pytest.mark.parametrize("limits", [{"max_depth": -1}, {"max_states": 0}])
def test_that_limits_that_show_nothing_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        view(AUTOMATON, **limits)


def test_that_boxes_do_not_overlap() -> None:
    for automaton in (AUTOMATON, hostile()):
        place = layout(view(automaton))
        corners = list(place.corners.values())
        assert len(set(corners)) == len(corners)
        for column in {x for x, _ in corners}:
            rows = sorted(y for x, y in corners if x == column)
            assert all(low - high >= 50 for high, low in pairwise(rows))
        for arrow in place.arrows:
            if arrow.main:
                source, target = place.corners[arrow.transition.source], place.corners[arrow.transition.target]
                assert target[0] - source[0] == COLUMN


def test_that_an_unknown_format_is_named() -> None:
    with pytest.raises(UnknownName, match="mermaid"):
        export(AUTOMATON, "mermayd")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_that_exports_are_the_same_every_time(name: str) -> None:
    assert export(AUTOMATON, name) == export(AUTOMATON, name)


@pytest.mark.parametrize("name", ["svg", "graphml", "scxml"])
def test_that_hostile_text_leaves_xml_well_formed(name: str) -> None:
    root = ElementTree.fromstring(export(hostile(), name))

    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not kinds & {"script", "img", "foreignObject"}
    assert not [a for element in root.iter() for a in element.attrib if a.lower().startswith("on")]


def test_that_hostile_text_stays_text_in_the_page() -> None:
    automaton = hostile()
    page = Page(export(automaton, "html").decode())

    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert [attrs.get("type") for tag, attrs in page.tags if tag == "script"] == ["application/json", None]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    data = json.loads(page.scripts[0])
    assert len(data["states"]) == len(automaton)
    assert HOSTILE[0] in data["states"][1]["samples"]
    assert "alert(1)" not in page.scripts[1]


def test_that_the_page_loads_nothing() -> None:
    text = export(AUTOMATON, "html").decode()

    assert "default-src 'none'" in text
    assert "'sha256-" in text
    assert not re.search(r"""(?:src|href)\s*=|@import|url\((?!#)""", text)
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_that_hostile_text_leaves_dot_strings_closed() -> None:
    text = export(hostile(), "dot").decode()
    inside = re.compile(r'"(?:[^"\\\n]|\\.)*"')

    for line in text.splitlines()[1:-1]:
        assert re.fullmatch(r"[\w\s=,>;\[\]{}-]*", inside.sub("", line)), line


def test_that_hostile_text_leaves_mermaid_labels_closed() -> None:
    for line in export(hostile(), "mermaid").decode().splitlines()[1:]:
        for label in re.findall(r'"(.*)"', line):
            assert re.fullmatch(r"(?:[\w ]|#\d+;|<br/>)*", label), line
        bare = re.sub(r'".*"', "", line)
        assert re.fullmatch(r"  (s\d+[\[\](){}]*:::\w+|s\d+ -->\|\| s\d+|classDef \w+ [\w:#,]+)", bare), line


def test_that_graphml_holds_the_whole_automaton() -> None:
    root = ElementTree.fromstring(export(AUTOMATON, "graphml"))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    names = {key.attrib["id"]: key.attrib["attr.name"] for key in root.iter(f"{space}key")}
    nodes = [{names[d.attrib["key"]]: d.text or "" for d in node} for node in root.iter(f"{space}node")]

    assert [(n["name"], int(n["count"]), int(n["ends"])) for n in nodes] == [
        (s.name, s.count, s.ends) for s in AUTOMATON.states
    ]
    edges = [
        (int(e.attrib["source"][1:]), e[0].text, int(e.attrib["target"][1:]), int(e[1].text or ""))
        for e in root.iter(f"{space}edge")
    ]
    assert edges == [tuple(t) for t in AUTOMATON.transitions]


def test_that_scxml_runs_as_the_automaton_does() -> None:
    """A small interpreter of the exported machine steps as delta does, and ends where dialogues end."""
    root = ElementTree.fromstring(export(AUTOMATON, "scxml"))
    space = "{http://www.w3.org/2005/07/scxml}"
    machine = {
        state.attrib["id"]: {t.attrib["event"]: t.attrib["target"] for t in state.iter(f"{space}transition")}
        for state in root.iter(f"{space}state")
    }
    assert root.attrib["initial"] == "s0"
    for state in AUTOMATON.states:
        moves = dict(machine[f"s{state.id}"])
        assert (moves.pop("dialogue.end", None) == "end") is state.accept
        assert moves == {name.replace(":", "."): f"s{target}" for name, target in AUTOMATON.outgoing(state.id).items()}


def test_that_a_png_picture_is_drawn() -> None:
    pytest.importorskip("matplotlib")

    for automaton in (AUTOMATON, hostile()):
        assert export(automaton, "png").startswith(b"\x89PNG")


def test_that_a_missing_drawing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    with pytest.raises(MissingExtra, match="evaluation"):
        export(AUTOMATON, "png")
