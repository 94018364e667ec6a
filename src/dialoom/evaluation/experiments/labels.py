"""People as judges: pairs exported without names, and how far their labels agree with the judge's."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from dialoom.errors import InvalidFile, NothingToLearn, UsageError
from dialoom.evaluation.experiments.judging import PANEL, Outcome, panel
from dialoom.evaluation.experiments.pairs import Pair
from dialoom.evaluation.experiments.results import Results
from dialoom.files import read_text, write_text

COLUMNS = ("pair", "dialogue", "truth", "A", "B", "choice")
CHOICES = ("A", "B", "tie")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two judges agree on the pairs that both labelled; `kappa` is None when chance alone would agree."""

    one: str
    other: str
    pairs: int
    agreed: float
    kappa: float | None


def export_labels(results: Results, path: Path, count: int, *, seed: int = 0, against: str | None = None) -> int:
    """Write a table of pairs to label and return how many; which system is A is drawn for each pair.

    Pairs that say the same are left out, and judged ones come first, so that agreement can be computed. Raises
    `UsageError` when the experiment has no system to compare with, and `NothingToLearn` when no pair differs.
    """
    pairs = _pairs(results, against)
    judged = {found.pair.id for found in results.judged}
    differing = sorted((pair for pair in pairs.values() if not pair.same), key=lambda pair: pair.id)
    if not differing:
        raise NothingToLearn("No two systems completed a dialogue differently, so there is nothing to label.")
    random.Random(seed).shuffle(differing)  # noqa: S311 - a sample is no secret
    differing.sort(key=lambda pair: pair.id not in judged)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for pair in differing[:count]:
        a, b = pair.lines(pair.ours), pair.lines(pair.theirs)
        first, second = (b, a) if _swapped(pair.id) else (a, b)
        texts = ["\n".join(lines) for lines in (pair.truth, first, second)]
        writer.writerow([pair.id, pair.dialogue.id, *map(_inert, texts), ""])
    write_text(path, table.getvalue())
    return min(count, len(differing))


def read_labels(path: Path, results: Results, *, against: str | None = None) -> tuple[dict[str, Outcome], int]:
    """The outcome for each labelled pair, of the system that is compared, and how many rows have no choice.

    Raises `InvalidFile` for a missing column, a choice other than A, B or tie, or a pair of other results.
    """
    pairs = _pairs(results, against)
    rows = csv.DictReader(io.StringIO(read_text(path)))
    if not {"pair", "choice"} <= set(rows.fieldnames or ()):
        raise InvalidFile(path, "it has no columns pair and choice.", hint="Fill in the file that the export wrote.")
    outcomes: dict[str, Outcome] = {}
    blank = 0
    for number, row in enumerate(rows, 2):
        choice = (row["choice"] or "").strip()
        if not choice:
            blank += 1
            continue
        known = {name.lower(): name for name in CHOICES}
        if choice.lower() not in known:
            raise InvalidFile(path, f"the choice is '{choice}'.", place=f"row {number}", hint="Valid: A, B, tie.")
        if row["pair"] not in pairs:
            hint = "Labels belong to the replies they were given for; export again after a new run."
            raise InvalidFile(path, f"these results have no pair '{row['pair']}'.", place=f"row {number}", hint=hint)
        chosen = known[choice.lower()]
        ours = "B" if _swapped(row["pair"]) else "A"
        outcomes[row["pair"]] = "tie" if chosen == "tie" else "win" if chosen == ours else "loss"
    return outcomes, blank


def agreements(results: Results, labelled: Mapping[str, Mapping[str, Outcome]]) -> list[Agreement]:
    """Agreement of everybody with everybody: the people of `labelled` (name -> pair -> outcome) and the judges."""
    said: dict[str, dict[str, Outcome]] = {name: dict(found) for name, found in labelled.items()}
    judges = list(dict.fromkeys(found.judge for found in results.judged))
    for judge in judges:
        mine = [found for found in results.judged if found.judge == judge]
        said[judge] = {found.pair.id: found.outcome for found in mine if found.outcome in ("win", "loss", "tie")}
    if len(judges) > 1:
        said[PANEL] = {pair.id: outcome for pair, outcome in panel(results.judged) if outcome != "unjudged"}
    found = []
    for one, other in combinations(said, 2):
        if PANEL in (one, other) and {one, other} & set(judges):
            continue  # a panel agrees with its own members by construction
        shared = sorted(set(said[one]) & set(said[other]))
        if shared:
            a, b = [said[one][pair] for pair in shared], [said[other][pair] for pair in shared]
            agreed = sum(x == y for x, y in zip(a, b, strict=True)) / len(shared)
            found.append(Agreement(one, other, len(shared), agreed, cohen_kappa(a, b)))
    return found


def cohen_kappa(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Cohen's kappa of two labellings of the same things (Cohen 1960): 1 is full agreement, 0 is chance.

    None for no labels, and where both always say one and the same thing, which leaves nothing to agree beyond chance.
    """
    if len(a) != len(b):
        raise UsageError(f"{len(a)} labels and {len(b)}: both must label the same things.")
    if not a:
        return None
    observed = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    of_a, of_b = Counter(a), Counter(b)
    chance = sum(of_a[label] * of_b[label] for label in of_a) / len(a) ** 2
    return None if chance == 1.0 else (observed - chance) / (1.0 - chance)


def _pairs(results: Results, against: str | None) -> dict[str, Pair]:
    judge = results.experiment.judge
    name = against or (judge.against if judge else None)
    if name is None:
        raise UsageError("The experiment names no system to compare with.", hint="Say --against SYSTEM.")
    results.of(name)
    return {pair.id: pair for pair in results.pairs(name)[0]}


def _swapped(pair_id: str) -> bool:
    """Whether our system is B: drawn by the pair's own hash, so that no key to the names need be kept."""
    return int(pair_id, 16) % 2 == 1


def _inert(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t" else text
