"""What an experiment found: a row for each reply, the pairs that were judged, and the folder they are kept in."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dialoom.dialogue import Dialogue, Role, Utterance, as_json
from dialoom.errors import InvalidFile, UnknownName
from dialoom.evaluation.experiments.definition import Experiment, SpeakerNames
from dialoom.evaluation.experiments.gold import Found, Gold, gold_of
from dialoom.evaluation.experiments.judging import Judged, Verdict
from dialoom.evaluation.experiments.measures import Answered
from dialoom.evaluation.experiments.pairs import Pair, pairs_of
from dialoom.files import read_text, write_text
from dialoom.models.scrubbing import scrubbed_json

LARGEST = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One reply, with its metrics and its price; `error` says why there is none, `note` what went wrong on the way."""

    system: str
    seed: int
    dataset: str
    dialogue: str
    turn: int
    domain: str
    reference: str
    reply: str | None
    candidates: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None
    milliseconds: float = 0.0
    note: str = ""
    error: str = ""
    found: Found = field(default_factory=Found)

    @property
    def item(self) -> str:
        """Data set, dialogue, turn and seed."""
        return f"{self.dataset}/{self.dialogue}#{self.turn}@{self.seed}"

    @property
    def group(self) -> str:
        """The dialogue it belongs to."""
        return f"{self.dataset}/{self.dialogue}"


@dataclass(frozen=True)
class Results:
    """Everything a report or a comparison needs. `dialogues` by (data set, id); `run` counts what was left out."""

    experiment: Experiment
    dialogues: Mapping[tuple[str, str], Dialogue]
    rows: Sequence[Row]
    judged: Sequence[Judged] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names, in the order of the experiment."""
        return tuple(system.name for system in self.experiment.systems)

    def of(self, system: str) -> list[Row]:
        """The rows of a system. Raises `UnknownName`."""
        if system not in self.systems:
            raise UnknownName("system", system, self.systems)
        return [row for row in self.rows if row.system == system]

    def pairs(self, against: str) -> tuple[list[Pair], Counter[str]]:
        """Completed dialogues to compare with those of `against`, and per system how many are incomplete."""
        return pairs_from(self.experiment, self.dialogues, self.rows, against)

    def answered(self, row: Row) -> Answered:
        """What metrics look at: the reply of `row` with its conversation and its labels."""
        dialogue = self.dialogues.get((row.dataset, row.dialogue), Dialogue(row.dialogue, ()))
        return answered(dialogue, row)

    def save(self, folder: Path) -> None:
        """Write the folder's files, each whole or not at all."""
        dialogues = ({"dataset": name, **as_json(found)} for (name, _), found in sorted(self.dialogues.items()))
        pairs = (
            {
                "pair": f.pair.id,
                "dataset": f.pair.dataset,
                "dialogue": f.pair.dialogue.id,
                "domain": f.pair.domain,
                "system": f.pair.system,
                "against": f.pair.against,
                "seed": f.pair.seed,
                "judge": f.judge,
                "forward": f.forward,
                "backward": f.backward,
                "outcome": f.outcome,
            }
            for f in self.judged
        )
        definition = scrubbed_json(self.experiment.model_dump(mode="json"))
        write_text(folder / "experiment.json", json.dumps(definition, ensure_ascii=False, indent=1) + "\n")
        write_text(folder / "dialogues.jsonl", _lines(dialogues))
        write_text(folder / "results.jsonl", _lines(map(asdict, self.rows)))
        write_text(folder / "verdicts-by-pair.jsonl", _lines(pairs))
        write_text(folder / "run.json", json.dumps(dict(self.run), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Results:
        """The results in a folder. Raises `InvalidFile` when it holds none, or damaged ones."""
        if not (folder / "results.jsonl").is_file():
            raise InvalidFile(
                folder, "there are no results here.", hint="Run `dialoom eval dialogues EXPERIMENT.yaml`."
            )
        try:
            experiment = Experiment.model_validate_json(read_text(folder / "experiment.json"))
            dialogues = {(line["dataset"], line["id"]): _dialogue(line) for line in _read(folder / "dialogues.jsonl")}
            rows = [_row(line) for line in _read(folder / "results.jsonl")]
            run = json.loads(read_text(folder / "run.json"))
            judged = _judged(experiment, dialogues, rows, list(_read(folder / "verdicts-by-pair.jsonl")))
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            raise InvalidFile(
                folder, f"its results are damaged ({error}).", hint="Run the experiment again."
            ) from error
        return cls(experiment, dialogues, rows, judged, run)


def pairs_from(
    experiment: Experiment, dialogues: Mapping[tuple[str, str], Dialogue], rows: Iterable[Row], against: str
) -> tuple[list[Pair], Counter[str]]:
    """Completed dialogues to compare with those of `against`, and per system how many are incomplete."""
    replied: dict[tuple[str, str, str, int], dict[int, str]] = defaultdict(dict)
    asked: dict[tuple[str, str], set[int]] = defaultdict(set)
    domains: dict[tuple[str, str], str] = {}
    for row in rows:
        place = row.dataset, row.dialogue
        asked[place].add(row.turn)
        domains[place] = row.domain
        filled = replied[row.system, row.dataset, row.dialogue, row.seed]
        if row.reply is not None:
            filled[row.turn] = row.reply
    speakers: dict[str, SpeakerNames] = {data.name: data.speakers for data in experiment.datasets}
    frozen = {place: frozenset(turns) for place, turns in asked.items()}
    return pairs_of(replied, dialogues, frozen, domains, against, speakers)


def _judged(
    experiment: Experiment, dialogues: Mapping[tuple[str, str], Dialogue], rows: list[Row], lines: list[dict[str, Any]]
) -> list[Judged]:
    if experiment.judge is None:
        return []
    pairs = {pair.id: pair for pair in pairs_from(experiment, dialogues, rows, experiment.judge.against)[0]}
    known = [line for line in lines if line["pair"] in pairs]

    def verdict(value: Any) -> Verdict | None:
        return value if value in ("first", "second", "tie", "malformed") else None

    return [
        Judged(pairs[line["pair"]], line["judge"], verdict(line["forward"]), verdict(line["backward"]))
        for line in known
    ]


def answered(dialogue: Dialogue, row: Row) -> Answered:
    """The reply of a row as metrics see it; its labels come from the test dialogue, which no system sees."""
    before = dialogue.utterances[: row.turn]
    return Answered(
        row.reply or "",
        row.reference,
        row.candidates,
        tuple(said.text for said in before if said.role is not Role.TOOL),
        gold_of(dialogue, row.turn) if row.turn < len(dialogue) else Gold(),
        row.found,
    )


def _row(line: dict[str, Any]) -> Row:
    found = dict(line.pop("found", {}))
    tuples = {name: None if value is None else tuple(value) for name, value in found.items() if name != "action"}
    listed = Found(**{**found, **tuples})
    return Row(**{**line, "candidates": tuple(line["candidates"]), "found": listed})


def _dialogue(line: Mapping[str, Any]) -> Dialogue:
    spoken = tuple(
        Utterance(Role(said["role"]), said["text"], action=said.get("action"), annotations=said.get("annotations", {}))
        for said in line["utterances"]
    )
    return Dialogue(line["id"], spoken, line.get("metadata", {}))


def _lines(values: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False, default=dict) + "\n" for value in values)


def _read(path: Path) -> Iterable[dict[str, Any]]:
    for line in read_text(path, limit=LARGEST).splitlines():
        if line.strip():
            yield json.loads(line)
