"""Laws of automata files: what is written is read back, and every text stays a text."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dialoom.automata import Automaton, Round, TagSequence, dumps, export, from_parts, learn_paper, loads, to_parts
from dialoom.automata.format import schema

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALIDATOR = Draft202012Validator(schema())


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    rounds = st.lists(st.builds(Round, st.sampled_from(["user", "system", "tool"]), st.tuples(TEXT, TEXT)), max_size=4)
    talks = draw(st.lists(rounds, min_size=1, max_size=6))
    automaton = learn_paper(
        [TagSequence(f"d{n}", tuple(talk)) for n, talk in enumerate(talks)], tau=draw(st.integers(0, 2))
    )
    samples = draw(st.lists(TEXT, max_size=3))
    return replace(automaton, states=tuple(replace(state, samples=tuple(samples)) for state in automaton.states))


@settings(max_examples=60, deadline=None)
@given(automata())
def test_that_reading_undoes_writing(automaton: Automaton) -> None:
    assert loads(dumps(automaton)) == automaton
    assert from_parts(to_parts(automaton)) == automaton
    assert VALIDATOR.is_valid(json.loads(dumps(automaton)))


@settings(max_examples=40, deadline=None)
@given(automata())
def test_that_exports_keep_every_state_and_transition_whatever_the_tags(automaton: Automaton) -> None:
    graph = ElementTree.fromstring(export(automaton, "graphml"))
    kinds = [element.tag.rpartition("}")[2] for element in graph.iter()]
    assert (kinds.count("node"), kinds.count("edge")) == (len(automaton), len(automaton.transitions))
    machine = ElementTree.fromstring(export(automaton, "scxml"))
    kinds = [element.tag.rpartition("}")[2] for element in machine.iter()]
    accepting = sum(state.accept for state in automaton.states)
    assert (kinds.count("state"), kinds.count("transition")) == (len(automaton), len(automaton.transitions) + accepting)
    events = [element.attrib["event"] for element in machine.iter() if element.tag.endswith("transition")]
    assert len({*events} - {"dialogue.end"}) == len({t.symbol for t in automaton.transitions})
    drawn = ElementTree.fromstring(export(automaton, "svg"))
    assert sum(element.get("class") == "state" for element in drawn.iter()) == len(automaton)
