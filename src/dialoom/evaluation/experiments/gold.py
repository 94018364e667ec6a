"""What a turn's labels say (`Gold`), what a system showed or claimed (`Found`), and the action of a reply's words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scipy import sparse

from dialoom.dialogue import Dialogue, Role
from dialoom.encoders.terms import TermSpace
from dialoom.evaluation.next_action import action_of

Actions = Mapping[str, Sequence[str | None]]
"""Dialogue id -> the action of each of its utterances."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The labels of a system turn: its action, the sources it needed, and the evidence it rests on (ids and texts).

    `plan` is None where the data say nothing about sources; an empty plan needs none.
    """

    action: str | None = None
    plan: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What came with a reply: its own action, the actions of the examples used, the plan, evidence ids; best first."""

    action: str | None = None
    actions: tuple[str | None, ...] = ()
    plan: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ()


def gold_of(dialogue: Dialogue, turn: int) -> Gold:
    """The labels of one turn, from its action and its annotations.

    Read are `plan` (a list of sources), `evidence` (a list of texts, or of {"id", "text", "source"}), and KBP's `P-K`.
    """
    said = dialogue.utterances[turn]
    notes = said.annotations
    if "P-K" in notes:
        return _kbp(dialogue.metadata, notes["P-K"])
    listed = [_passage(value) for value in notes.get("evidence", ())]
    sources = tuple(dict.fromkeys(source for _, _, source in listed if source))
    plan = tuple(map(str, notes["plan"])) if "plan" in notes else sources or None
    ids, texts = tuple(id_ for id_, _, _ in listed), tuple(text for _, text, _ in listed if text)
    return Gold(action_of(said), plan, ids, texts)


def _passage(value: Any) -> tuple[str, str, str]:
    if isinstance(value, Mapping):
        return str(value.get("id", value.get("text", ""))), str(value.get("text", "")), str(value.get("source", ""))
    return str(value), str(value), ""


def _kbp(about: Mapping[str, Any], named: Sequence[Sequence[str]]) -> Gold:
    texts: dict[str, str] = dict(about.get("persona", {}))
    for persona, documents in about.get("persona_kg", {}).items():
        texts.update({f"{persona}-{key}": text for key, text in documents.items()})
    grouped = zip(("PERSONA", "DOCUMENTS"), named, strict=False)
    plan = tuple(source for source, ids in grouped if ids)
    evidence = tuple(str(id_) for ids in named for id_ in ids)
    return Gold(None, plan, evidence, tuple(texts[id_] for id_ in evidence if id_ in texts))


@dataclass(frozen=True)
class ReplyActions:
    """The action that words stand for: that of the labelled training reply with these words, or with the nearest.

    Near is the cosine of weighted words and word pairs.
    """

    texts: tuple[str, ...]
    actions: tuple[str, ...]

    @classmethod
    def build(cls, dialogues: Sequence[Dialogue], labels: Actions) -> ReplyActions:
        """From training dialogues and their actions; a text that was said for several stands for the commonest."""
        said: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for dialogue in dialogues:
            for utterance, action in zip(dialogue.utterances, labels.get(dialogue.id, ()), strict=False):
                if utterance.role is Role.SYSTEM and action is not None:
                    said[_plain(utterance.text)][action] += 1
        return cls(tuple(said), tuple(counts.most_common(1)[0][0] for counts in said.values()))

    def of(self, text: str) -> str | None:
        """The action of `text`; None where nothing is labelled or no word of it is known."""
        if not self.texts:
            return None
        wanted = _plain(text)
        if wanted in self._exact:
            return self._exact[wanted]
        nearness = self._rows @ self._space.matrix([self._space.skeleton(wanted)]).T
        best = int(nearness.argmax())
        return self.actions[best] if nearness.max() > 0.0 else None

    @cached_property
    def _exact(self) -> dict[str, str]:
        return dict(zip(self.texts, self.actions, strict=True))

    @cached_property
    def _space(self) -> TermSpace:
        return TermSpace.fit(self.texts, at_least=1)

    @cached_property
    def _rows(self) -> sparse.csr_array:
        return self._space.matrix(map(self._space.skeleton, self.texts))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
