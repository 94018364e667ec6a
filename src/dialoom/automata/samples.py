"""Sample utterances on states, for a person to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dialoom.automata.automaton import Automaton


def with_samples(automaton: Automaton, text_of: Callable[[str, int], str | None], *, limit: int = 3) -> Automaton:
    """The automaton with at most `limit` different texts on each state but the start.

    `text_of(dialogue id, round)` tells what was said there, or None; it is asked for passages in order until enough
    texts differ, at most four times as often as texts are wanted.
    """
    states = [automaton.states[0]]
    for state in automaton.states[1:]:
        begin, end = int(automaton.visit_offsets[state.id]), int(automaton.visit_offsets[state.id + 1])
        texts: dict[str, None] = {}
        for at in range(begin, min(end, begin + 4 * limit)):
            text = text_of(automaton.dialogues[automaton.visit_dialogue[at]], int(automaton.visit_round[at]))
            if text:
                texts[text] = None
            if len(texts) == limit:
                break
        states.append(replace(state, samples=tuple(texts)))
    return replace(automaton, states=tuple(states))
