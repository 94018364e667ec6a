"""From tagged dialogues to the symbols automata see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dialoom.automata.router import Router
from dialoom.automata.symbols import Round, TagSequence
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.words import words


def to_round(utterance: Utterance) -> Round:
    """One tagged utterance as symbols; the words of what was said go along, those of tool rounds do not."""
    said = () if utterance.role is Role.TOOL else tuple(dict.fromkeys(words(utterance.text)))
    return Round(utterance.role.value, utterance.tags, said)


def to_rounds(utterances: Sequence[Utterance]) -> tuple[Round, ...]:
    """A conversation so far as symbols: round i is utterance i."""
    return tuple(map(to_round, utterances))


def to_sequence(dialogue: Dialogue) -> TagSequence:
    """A tagged dialogue as symbols: round i is utterance i."""
    return TagSequence(dialogue.id, to_rounds(dialogue.utterances))


def without_tools(dialogue: Dialogue) -> Dialogue:
    """The dialogue as its two speakers show it, without tool rounds."""
    return replace(dialogue, utterances=tuple(u for u in dialogue.utterances if u.role is not Role.TOOL))


def candidates(router: Router) -> Callable[[Dialogue], list[tuple[str, int]]]:
    """What an automaton selector asks: a tagged conversation to (dialogue id, utterance) places of past turns."""

    def places(context: Dialogue) -> list[tuple[str, int]]:
        route = router.route(to_rounds(context.utterances))
        return [(candidate.dialogue_id, candidate.round) for candidate in router.candidates(route)]

    return places
