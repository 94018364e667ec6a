"""Win rate: judge models say which of two completed dialogues is nearer to the true one (DFA-RAG sec. 4.1, App. A)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dialoom.errors import RunError, StoreError, UsageError
from dialoom.evaluation.experiments.definition import Judge, Price
from dialoom.evaluation.experiments.fingerprints import model_digest
from dialoom.evaluation.experiments.ledger import Ledger, digest
from dialoom.evaluation.experiments.pairs import Pair
from dialoom.evaluation.experiments.running import BudgetSpent, Purse, together
from dialoom.evaluation.intervals import interval
from dialoom.models.base import Completion, LanguageModel, Message, Request, Sampling
from dialoom.models.scrubbing import scrubbed
from dialoom.models.templates import rendered, template_source

Verdict = Literal["first", "second", "tie", "malformed"]
Outcome = Literal["win", "loss", "tie", "malformed", "unjudged"]
PANEL = "panel"

_LAST = re.compile(r"(?:^|[^A-Za-z])([mM]|tie|Tie|TIE)[\s.`'\"*)\]]*$")


def read_verdict(answer: str) -> Verdict:
    """The verdict at the end of a judge's answer: `m` is the first output and `M` the second; `tie` is one.

    Quotes, dots, asterisks and white space after it are forgiven; anything else is malformed.
    """
    found = _LAST.search(answer)
    if found is None:
        return "malformed"
    verdicts: dict[str, Verdict] = {"m": "first", "M": "second"}
    return verdicts.get(found[1], "tie")


@dataclass(frozen=True, slots=True)
class Judged:
    """What one judge said of a pair. `forward` is the verdict with the system first, `backward` with it second.

    `error` says why a verdict is not there.
    """

    pair: Pair
    judge: str
    forward: Verdict | None
    backward: Verdict | None
    error: str = ""

    @property
    def outcome(self) -> Outcome:
        """Of the system. Verdicts that contradict each other in the two orders are a tie."""
        if self.pair.same:
            return "tie"
        told = {"first": 1, "second": -1, "tie": 0}
        said = [v for v in (self.forward, self.backward) if v is not None]
        if not said:
            return "unjudged"
        if "malformed" in said:
            return "malformed"
        signs = [told[self.forward]] if self.forward is not None else []
        signs += [-told[self.backward]] if self.backward is not None else []
        total = sum(signs)
        return "win" if total > 0 else "loss" if total < 0 else "tie"


@dataclass(frozen=True, slots=True)
class WinRate:
    """How often a system's dialogue was preferred: (wins + ties / 2) / all that were judged, with its 95 % interval.

    `agreement` is the share of pairs judged in both orders whose verdicts name the same system, `first` the share of
    verdicts for whichever stood first (0.5 is unbiased); None where there is nothing to say it of.
    """

    system: str
    judge: str
    domain: str
    wins: int
    losses: int
    ties: int
    malformed: int
    unjudged: int
    rate: float | None
    low: float | None
    high: float | None
    agreement: float | None
    first: float | None


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges of an experiment."""

    spec: Judge
    template: str
    models: Mapping[str, LanguageModel]
    ledger: Ledger
    prices: Mapping[str, Price]

    @classmethod
    def open(
        cls,
        spec: Judge,
        folder: Path,
        models: Callable[[str], LanguageModel],
        ledger: Ledger,
        prices: Mapping[str, Price],
    ) -> Bench:
        """Open the judge models and the template. Raises `UnknownName` for either."""
        if spec.template.endswith(".j2"):
            path = folder / spec.template
            source = template_source("dialoom.evaluation", path.stem, path.parent)
        else:
            source = template_source("dialoom.evaluation", spec.template)
        return cls(spec, source, {name: models(name) for name in spec.models}, ledger, prices)

    async def judge(
        self, pairs: Sequence[Pair], purse: Purse, concurrency: int, advance: Callable[[], None]
    ) -> tuple[list[Judged], str]:
        """Every pair by every judge, and why it stopped early, if it did. Verdicts are asked for once and kept.

        A failing call is recorded and asked again in the next run. Raises `StoreError` when verdicts cannot be kept.
        """
        pending = [(judge, pair, swapped) for judge, pair, swapped in self.questions(pairs) if not pair.same]
        waiting = iter(pending)
        failures: Counter[str] = Counter()

        async def work() -> None:
            for judge, pair, swapped in waiting:
                messages = self.prompt(pair, swapped=swapped)
                key = self.key(judge, messages)
                if "verdict" not in self.ledger.records.get(key, {}) and failures[judge] < GIVE_UP:
                    with purse.asking():
                        answered = await self._ask(judge, key, messages, purse)
                    failures[judge] = 0 if answered else failures[judge] + 1
                advance()

        stopped = ""
        try:
            await together(work() for _ in range(concurrency))
        except BudgetSpent as spent:
            stopped = f"the budget of {spent} is spent"
        gone = [f"judge {name} failed {GIVE_UP} times in a row" for name in failures if failures[name] >= GIVE_UP]
        return [self.judged(pair, judge) for judge in self.models for pair in pairs], "; ".join(
            [stopped, *gone] if stopped else gone
        )

    def questions(self, pairs: Iterable[Pair]) -> Iterable[tuple[str, Pair, bool]]:
        """(judge, pair, whether the system stands second)."""
        for judge in self.models:
            for pair in pairs:
                both = self.spec.orders == "both"
                yield from ((judge, pair, swapped) for swapped in ((False, True) if both else (_coin(pair),)))

    def prompt(self, pair: Pair, *, swapped: bool) -> tuple[Message, ...]:
        """The judge's prompt."""
        before = self.spec.lines
        ours, theirs = pair.lines(pair.ours, before), pair.lines(pair.theirs, before)
        first, second = (theirs, ours) if swapped else (ours, theirs)
        task, truth = pair.lines(None, before), pair.lines(pair.said, before)
        values = {"task": task, "truth": truth, "first": first, "second": second}
        return rendered(self.template, values, self.spec.template)

    def key(self, judge: str, messages: tuple[Message, ...]) -> str:
        """Where a verdict is kept: the same judge, with the same model file, asked the same thing."""
        return digest(
            [
                judge,
                model_digest(judge, Path()),
                self.spec.max_tokens,
                [(message.role, message.content) for message in messages],
            ]
        )

    def judged(self, pair: Pair, judge: str) -> Judged:
        """What a judge said of a pair so far."""
        said: dict[bool, Verdict | None] = {False: None, True: None}
        error = ""
        for _, _, swapped in [] if pair.same else [q for q in self.questions([pair]) if q[0] == judge]:
            record = self.ledger.records.get(self.key(judge, self.prompt(pair, swapped=swapped)), {})
            said[swapped] = record.get("verdict")
            error = record.get("error", error)
        return Judged(pair, judge, said[False], said[True], error)

    async def _ask(self, judge: str, key: str, messages: tuple[Message, ...], purse: Purse) -> bool:
        request = Request(messages, Sampling(max_tokens=self.spec.max_tokens), timeout=self.spec.timeout)
        try:
            completion = await self.models[judge].generate(request)
        except (UsageError, StoreError):
            raise
        except (RunError, TimeoutError) as error:
            record: dict[str, Any] = {"judge": judge, "error": scrubbed(str(error)), "calls": 1}
        else:
            record = {"judge": judge, "verdict": read_verdict(completion.text), "text": scrubbed(completion.text)}
            record |= _used(completion, self.spec.price or self.prices.get(judge))
        self.ledger.add(key, record)
        purse.spent.add(record)
        purse.spent.failed += "error" in record
        return "error" not in record


GIVE_UP = 10


def win_rates(judged: Sequence[Judged], *, by_domain: bool = False) -> list[WinRate]:
    """A rate for each system and judge, and with several judges for the panel: the majority of their outcomes."""
    rates = []
    domains = sorted({found.pair.domain for found in judged}) if by_domain else [""]
    judges = list(dict.fromkeys(found.judge for found in judged))
    for system in dict.fromkeys(found.pair.system for found in judged):
        for domain in domains:
            mine = [f for f in judged if f.pair.system == system and domain in ("", f.pair.domain)]
            if not mine:
                continue
            for judge in judges:
                of_judge = [found for found in mine if found.judge == judge]
                rates.append(_rate(system, judge, domain, [(f.pair, f.outcome) for f in of_judge], of_judge))
            if len(judges) > 1:
                rates.append(_rate(system, PANEL, domain, panel(mine), []))
    return rates


def panel(judged: Iterable[Judged]) -> list[tuple[Pair, Outcome]]:
    """The majority of the judges' outcomes for each pair; malformed and missing ones do not vote, equal votes tie."""
    by_pair: dict[str, list[Judged]] = {}
    for found in judged:
        by_pair.setdefault(found.pair.id, []).append(found)
    outcomes: list[tuple[Pair, Outcome]] = []
    for votes in by_pair.values():
        said = [vote.outcome for vote in votes if vote.outcome in ("win", "loss", "tie")]
        balance = said.count("win") - said.count("loss")
        decided: Outcome = "win" if balance > 0 else "loss" if balance < 0 else "tie"
        outcomes.append((votes[0].pair, decided if said else "unjudged"))
    return outcomes


def value_of(outcome: Outcome) -> float | None:
    """1 for a win, 0.5 for a tie, 0 for a loss; None for what was not judged."""
    return {"win": 1.0, "tie": 0.5, "loss": 0.0}.get(outcome)


def _rate(
    system: str, judge: str, domain: str, outcomes: Sequence[tuple[Pair, Outcome]], judged: Sequence[Judged]
) -> WinRate:
    counts = Counter(outcome for _, outcome in outcomes)
    valued = [(value, pair) for pair, outcome in outcomes if (value := value_of(outcome)) is not None]
    values = np.asarray([value for value, _ in valued], dtype=np.float64)
    low, high = interval(values, [f"{pair.dataset}/{pair.dialogue.id}" for _, pair in valued])
    valid = [f for f in judged if f.forward in ("first", "second") and f.backward in ("first", "second")]
    said = [v for f in judged for v in (f.forward, f.backward) if v in ("first", "second")]
    return WinRate(
        system,
        judge,
        domain,
        counts["win"],
        counts["loss"],
        counts["tie"],
        counts["malformed"],
        counts["unjudged"],
        float(values.mean()) if len(values) else None,
        low if len(values) else None,
        high if len(values) else None,
        sum(f.forward != f.backward for f in valid) / len(valid) if valid else None,
        said.count("first") / len(said) if said else None,
    )


def _used(completion: Completion, price: Price | None) -> dict[str, Any]:
    usage = completion.usage
    dollars = usage.cost
    if dollars is None and price is not None:
        dollars = (usage.prompt_tokens * price.prompt + usage.completion_tokens * price.completion) / 1e6
    return {
        "calls": 1,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "dollars": dollars,
        "milliseconds": completion.milliseconds,
    }


def _coin(pair: Pair) -> bool:
    return int(pair.id, 16) % 2 == 1
