"""A first flow from a learned automaton: its states become nodes, its tags intents, its traffic comments.

A state that a system tag leads to becomes a node that says what was said there and listens; user tags on the way to
the next such state become intents with the utterances of their states as examples. Tool rounds are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dialoom.automata.automaton import START, Automaton, State, Transition
from dialoom.errors import NothingToLearn

CHAIN = 4
"""User or tool rounds between two system states that are followed."""
EXAMPLES = 5
GOODBYE = "goodbye"


@dataclass(frozen=True, slots=True)
class Move:
    """From a node along what a user says (nothing, where the system speaks on) to the next system state."""

    target: int
    tag: str
    heard: int
    traffic: int


@dataclass
class Draft:
    """The nodes of the flow by state, with their moves; the intents with their examples."""

    moves: dict[int, list[Move]] = field(default_factory=dict)
    intents: dict[str, tuple[str, dict[str, None]]] = field(default_factory=dict)


def scaffold(
    automaton: Automaton, *, name: str = "learned", state: int = START, depth: int = 6, minimum: int = 1
) -> str:
    """The YAML of a flow for the part of an automaton within `depth` system turns of `state`, taking only transitions
    of at least `minimum` dialogues. It checks clean and runs.

    Raises `UnknownName` for a foreign state, and `NothingToLearn` when nothing that frequent leads on from it.
    """
    draft = _drafted(automaton, automaton.state(state).id, depth, minimum)
    if not draft.moves.get(state):
        raise NothingToLearn(
            f"No transition of at least {minimum} dialogues leads on from state {state}.",
            hint="Ask for fewer dialogues, or for another state.",
        )
    return "\n".join(_written(automaton, draft, _identifier(name), state)) + "\n"


def _drafted(automaton: Automaton, state: int, depth: int, minimum: int) -> Draft:
    leaving: dict[int, list[Transition]] = {}
    for transition in automaton.transitions:
        if transition.traffic >= minimum:
            leaving.setdefault(transition.source, []).append(transition)
    draft, ahead = Draft(), [(state, 0)]
    for here, level in ahead:
        if here in draft.moves:
            continue
        found = _moves(automaton, leaving, here) if level < depth else []
        draft.moves[here] = found
        for move in found:
            ahead.append((move.target, level + 1))
            if move.tag:
                examples = draft.intents.setdefault(_identifier(move.tag), (move.tag, {}))[1]
                examples.update(dict.fromkeys(automaton.state(move.heard).samples))
    return draft


def _moves(automaton: Automaton, leaving: dict[int, list[Transition]], here: int) -> list[Move]:
    """The most travelled way for each thing the user may say first, and for the system speaking on."""
    best: dict[str, Move] = {}
    paths = [(here, "", here, 0, 0)]
    for at, tag, heard, traffic, length in paths:
        for transition in leaving.get(at, ()):
            to = automaton.state(transition.target)
            flow = transition.traffic if not length else min(traffic, transition.traffic)
            if to.role == "system":
                if tag not in best or best[tag].traffic < flow:
                    best[tag] = Move(to.id, tag, heard, flow)
            elif length < CHAIN:
                first = tag or (to.tag if to.role == "user" else "")
                paths.append((to.id, first, to.id if not tag and first else heard, flow, length + 1))
    listening = [move for tag, move in best.items() if tag]
    if "" in best and best[""].traffic > sum(move.traffic for move in listening):
        return [best[""]]
    return sorted(listening, key=lambda move: (-move.traffic, move.tag))


def _written(automaton: Automaton, draft: Draft, name: str, start: int) -> Iterator[str]:
    names = _node_names(automaton, draft)
    yield f"# A first flow, drawn from {len(automaton.dialogues)} dialogues. Numbers are dialogues that went this way."
    yield f"flow: {name}"
    yield "version: 1"
    yield f"start: {names[start]}"
    yield ""
    yield "intents:"
    yield f"  {GOODBYE}: {{words: [bye, goodbye, that is all, that's all, nothing else]}}"
    for intent, (tag, examples) in draft.intents.items():
        yield f"  {intent}:"
        yield f"    words: [{_quoted(tag)}]"
        if examples:
            yield f"    examples: [{', '.join(_quoted(text) for text in list(examples)[:EXAMPLES])}]"
    yield ""
    yield "nodes:"
    for state in draft.moves:
        yield from _node(automaton.state(state), draft.moves[state], names)


def _node(state: State, moves: list[Move], names: dict[int, str]) -> Iterator[str]:
    said = _plain(state.samples[0]) if state.samples else _plain(state.tag.replace("_", " ") or "How can I help you?")
    yield f"  {names[state.id]}:  # state {state.name}: {state.count} dialogues, {state.ends} ended here"
    if not moves:
        yield f"    say: {_quoted(said)}"
        yield "    go: end"
        return
    if not moves[0].tag:
        yield f"    say: {_quoted(said)}"
        yield f"    go: {names[moves[0].target]}  # {moves[0].traffic}"
        return
    yield f"    ask: {_quoted(said)}"
    yield "    prompt: |"
    yield f"      You are at '{_plain(state.tag or state.name)}'. {{{{ ADDITIONAL_ERROR_MESSAGES }}}}"
    for sample in state.samples[:EXAMPLES]:
        yield f"      Said here before: {_plain(sample)}"
    for move in moves:
        yield f"      If the user means '{_plain(move.tag)}', the next node is {names[move.target]}."
    yield "    rules:"
    for move in moves:
        yield f"      - {{intent: {_identifier(move.tag)}, go: {names[move.target]}}}  # {move.traffic}"
    yield f"      - {{intent: {GOODBYE}, go: end}}"


def _node_names(automaton: Automaton, draft: Draft) -> dict[int, str]:
    taken: dict[str, int] = {}
    for number in draft.moves:
        state = automaton.state(number)
        base = "begin" if number == START else f"at_{_identifier(state.tag or state.name)}"
        taken[base if base not in taken else f"{base}_{number}"] = number
    return {number: name for name, number in taken.items()}


def _identifier(text: str) -> str:
    word = re.sub(r"\W+", "_", text.casefold(), flags=re.ASCII).strip("_")
    return word if word and not word[0].isdigit() else f"t_{word or 'x'}"


def _plain(text: str) -> str:
    """One line, in which nothing is a template."""
    return " ".join(text.replace("{{", "{ {").replace("{%", "{ %").replace("{#", "{ #").split())


def _quoted(text: str) -> str:
    return json.dumps(_plain(text), ensure_ascii=False)
