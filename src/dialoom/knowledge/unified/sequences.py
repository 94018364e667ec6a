"""A labelled turn as one token sequence: what is predicted, who sees whom, and where each piece stands.

Causal and sequence-to-sequence models are fed from the same sequences.

    context [SOURCE] K1 K2 [EOS] [EVIDENCE] e1 [EOE] s1 [EVIDENCE] e2 [EOE] s2 ... Agent: reply

Loss falls on acting, evaluation and reply tokens alone (eq. 7). A token of one piece of evidence, its score included,
sees the context, the sources and that piece, never another piece (the evidence attention mask, sec. IV-A2); the
reply, its "Agent:" included, sees everything. Every piece starts at the same position, right after the sources, so
that a score does not even depend on how long or how many the other pieces are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dialoom.dialogue import Dialogue, Role
from dialoom.knowledge.unified.tokens import (
    END_OF_EVIDENCE,
    END_OF_SOURCES,
    EVIDENCE,
    NULL,
    SOURCE,
    acting_token,
    quoted,
    score_token,
)

SHARED, REPLY = 0, -1
PLAN_LOSS, SCORE_LOSS, REPLY_LOSS = 1, 2, 3


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """Token ids with, for each: its piece (`SHARED`, 1, 2, ..., `REPLY`), its position, and which loss predicts it
    (0 none). All four have one length.
    """

    ids: list[int]
    pieces: list[int]
    positions: list[int]
    losses: list[int]

    def __len__(self) -> int:
        return len(self.ids)

    def extended(self, token: int, loss: int) -> TokenSequence:
        """With one more token, in the piece and at the position where it belongs."""
        piece = REPLY if loss == REPLY_LOSS else self.pieces[-1]
        position = self.positions[-1] + 1
        return TokenSequence(
            [*self.ids, token], [*self.pieces, piece], [*self.positions, position], [*self.losses, loss]
        )


@dataclass(frozen=True, slots=True)
class Run:
    """The tokens from `begin` up to `end` of a batch's sequence `row`, which one kind of loss predicts in a row."""

    row: int
    begin: int
    end: int
    loss: int


def runs(batch: Sequence[TokenSequence]) -> list[Run]:
    """Every stretch of predicted tokens, in order."""
    found: list[Run] = []
    for row, sequence in enumerate(batch):
        for place, loss in enumerate(sequence.losses):
            last = found[-1] if found else None
            if not loss:
                continue
            if last is not None and (last.row, last.end, last.loss) == (row, place, loss):
                found[-1] = Run(row, last.begin, place + 1, loss)
            else:
                found.append(Run(row, place, place + 1, loss))
    return found


@dataclass(frozen=True, slots=True)
class Weighed:
    """A piece of evidence with its relevance in tenths."""

    text: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Lengths:
    """The most tokens kept of a conversation (its latest), of a piece of evidence and of a reply."""

    context: int = 384
    evidence: int = 96
    reply: int = 128


class Sequences:
    """Builds sequences with one tokenizer."""

    def __init__(self, tokenizer: Any, lengths: Lengths) -> None:
        self._tokenizer = tokenizer
        self._lengths = lengths

    def training(
        self, context: Dialogue, plan: Sequence[str], evidence: Sequence[Weighed], reply: str
    ) -> TokenSequence:
        """The whole sequence, teacher-forced."""
        built = self.planned(context, plan)
        start = len(built)
        end = start
        for number, piece in enumerate(evidence, start=1):
            self._add(built, self._piece(piece.text), number, start)
            self._add(built, [self.id(score_token(piece.relevance))], number, None, SCORE_LOSS)
            end = max(end, built.positions[-1] + 1)
        self._add(built, self._encode("\nAgent:"), REPLY, end)
        words = [*self._encode(" " + quoted(reply))[: self._lengths.reply], self._tokenizer.eos_token_id]
        self._add(built, words, REPLY, None, REPLY_LOSS)
        return built

    def context(self, context: Dialogue) -> TokenSequence:
        """Up to and with [SOURCE]: what a plan is predicted from."""
        speakers = {Role.USER: "User", Role.SYSTEM: "Agent", Role.TOOL: "Tool"}
        lines = "\n".join(f"{speakers[u.role]}: {quoted(u.text)}" for u in context.utterances)
        built = TokenSequence([], [], [], [])
        self._add(built, [*self._encode(lines)[-self._lengths.context :], self.id(SOURCE)], SHARED, 0)
        return built

    def planned(self, context: Dialogue, plan: Sequence[str]) -> TokenSequence:
        """Up to and with [EOS], the sources being what the plan loss predicts."""
        built = self.context(context)
        acting = [acting_token(source) for source in plan] or [NULL]
        self._add(built, [self.id(token) for token in (*acting, END_OF_SOURCES)], SHARED, None, PLAN_LOSS)
        return built

    def scoring(self, context: Dialogue, plan: Sequence[str], text: str) -> TokenSequence:
        """Up to the [EOE] of one piece: what its score is predicted from."""
        built = self.planned(context, plan)
        self._add(built, self._piece(text), 1, None)
        return built

    def reading(self, context: Dialogue, plan: Sequence[str], evidence: Sequence[Weighed]) -> TokenSequence:
        """All that a reply is predicted from."""
        whole = self.training(context, plan, evidence, "")
        asked = len(whole) - sum(loss == REPLY_LOSS for loss in whole.losses)
        return TokenSequence(*(part[:asked] for part in (whole.ids, whole.pieces, whole.positions, whole.losses)))

    def id(self, token: str) -> int:
        """The id of a special token."""
        return int(self._tokenizer.convert_tokens_to_ids(token))

    def _piece(self, text: str) -> list[int]:
        words = self._encode(quoted(text))[: self._lengths.evidence]
        return [self.id(EVIDENCE), *words, self.id(END_OF_EVIDENCE)]

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    @staticmethod
    def _add(built: TokenSequence, ids: Sequence[int], piece: int, start: int | None, loss: int = 0) -> None:
        first = start if start is not None else built.positions[-1] + 1
        built.ids.extend(ids)
        built.pieces.extend([piece] * len(ids))
        built.positions.extend(range(first, first + len(ids)))
        built.losses.extend([loss] * len(ids))
