"""Turns whose plan and evidence are known: what planners, rankers and the unified model learn from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord
from dialoom.files import read_text, write_text
from dialoom.knowledge.base import Passage

Pools = Mapping[str, Sequence[Passage]]
"""The candidates of a turn by source, in an order of no meaning to the learner but its own position."""


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A user turn with the plan, the evidence and the reply that a person chose.

    `context` ends with the user's turn; its `id` groups the turns of one dialogue, so that no fold ever holds half a
    dialogue. `gold` are ids of the passages used, by source.
    """

    context: Dialogue
    pools: Pools
    plan: tuple[str, ...] = ()
    gold: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reply: str = ""


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "system", "tool"]
    text: str


class _Candidate(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    text: str
    parents: list[str] = []


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")

    dialogue: str
    context: list[_Said]
    pools: dict[str, list[_Candidate]]
    plan: list[str]
    gold: dict[str, list[str]]
    reply: str


def read_labelled(path: Path | str) -> list[LabelledTurn]:
    """Labelled turns from JSON lines {dialogue, context, pools, plan, gold, reply}.

    Raises `InvalidRecord` naming line and field, also for gold evidence that is not in its pool and for a context
    that does not end with the user.
    """
    turns = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = _Record.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise InvalidRecord(path, f"{where}: {first['msg']}.", place=place) from error
        if not record.context or record.context[-1].role != "user":
            raise InvalidRecord(path, "the context does not end with the user.", place=place)
        for source, ids in record.gold.items():
            absent = set(ids) - {candidate.id for candidate in record.pools.get(source, [])}
            if absent:
                raise InvalidRecord(path, f"gold '{min(absent)}' is not in the pool of {source}.", place=place)
        turns.append(_turn(record))
    return turns


def write_labelled(path: Path | str, turns: Iterable[LabelledTurn]) -> None:
    """The inverse of `read_labelled`, whole or not at all."""
    write_text(path, "".join(json.dumps(_plain(turn), ensure_ascii=False) + "\n" for turn in turns))


def _turn(record: _Record) -> LabelledTurn:
    return LabelledTurn(
        context=Dialogue(record.dialogue, tuple(Utterance(Role(said.role), said.text) for said in record.context)),
        pools={
            source: [Passage(c.id, c.text, parents=tuple(c.parents)) for c in pool]
            for source, pool in record.pools.items()
        },
        plan=tuple(record.plan),
        gold={source: frozenset(ids) for source, ids in record.gold.items()},
        reply=record.reply,
    )


def _plain(turn: LabelledTurn) -> dict[str, Any]:
    return {
        "dialogue": turn.context.id,
        "context": [{"role": u.role.value, "text": u.text} for u in turn.context.utterances],
        "pools": {
            source: [{"id": p.id, "text": p.text, "parents": list(p.parents)} for p in pool]
            for source, pool in turn.pools.items()
        },
        "plan": list(turn.plan),
        "gold": {source: sorted(ids) for source, ids in turn.gold.items()},
        "reply": turn.reply,
    }
