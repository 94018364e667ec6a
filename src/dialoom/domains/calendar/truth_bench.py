"""Truth, measured: the same computations and the same model, with and without rules."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dialoom.dataflow import Graph, from_lispress
from dialoom.domains.calendar import calendar_library, calendar_rules
from dialoom.domains.calendar.lies import caught, lies
from dialoom.domains.calendar.questions import questions
from dialoom.domains.calendar.sample import sample_world
from dialoom.domains.calendar.smcalflow.bench import derivable
from dialoom.domains.calendar.smcalflow.turns import Turn
from dialoom.domains.calendar.verifier import Claim, verify
from dialoom.errors import MissingExtra
from dialoom.generation import Decoding, Grammar, baseline, reply_prompt, sampler, speak, text_of, transduce
from dialoom.generation.decoding import TokenModel
from dialoom.generation.prompts import TASK
from dialoom.generation.reply import Mode

Speaker = Callable[[Graph, Grammar, int], str]


@dataclass(frozen=True, slots=True)
class Case:
    """A computation in its world, and what a person's agent said there, if that is known."""

    graph: Graph
    grammar: Grammar
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One system. Shares are of 1; `truthful` counts replies without a false claim, `silent` those without any claim.

    `informative` counts replies with a claim, all of them true: a system that says nothing is never wrong.
    `bleu` and `rouge` (L, F1) are None where there are no references.
    """

    system: str
    replies: int
    truthful: float
    precision: float
    silent: float
    informative: float
    distinct: float
    bleu: float | None
    rouge: float | None
    tokens_per_second: float


def made_up_cases(n: int, seed: int = 0) -> list[Case]:
    """Computations about the sample calendar, without references."""
    programs = questions(sample_world(seed), n, seed)
    return [_case(Graph(from_lispress(p, calendar_library), calendar_library, [sample_world(seed)])) for p in programs]


def corpus_cases(turns: Iterable[Turn], n: int) -> list[Case]:
    """The first `n` corpus turns whose reply is derivable, each in a world that makes it true."""
    cases: list[Case] = []
    for turn in turns:
        if len(cases) == n:
            break
        root = from_lispress(turn.program, calendar_library)
        found = derivable(root, turn.reply, limit=100)
        if found is not None:
            cases.append(_case(Graph(root, calendar_library, [found[0]]), turn.reply))
    return cases


def _case(graph: Graph, reference: str = "") -> Case:
    return Case(graph, transduce(graph, calendar_rules), reference)


def systems(model: TokenModel, *, max_tokens: int = 32, shots: int = 3) -> dict[str, Speaker]:
    """The systems compared: the model alone (likeliest and sampled), rules alone, and both (greedy, and a beam of 5).

    Every prompt begins with the same `shots` computations about another calendar and true replies to them: a text for
    a model to go on with. Without them a small model repeats the computation.
    """
    shown = "".join([f"{TASK}\n\n", *(f"{shot}\n\n" for shot in _shots(shots))])

    def said(mode: Mode) -> Speaker:
        how = Decoding(mode, max_tokens=max_tokens)
        return lambda graph, grammar, _: speak(grammar, model, shown + _asked(graph), how).text

    def free(mode: Mode) -> Speaker:
        def speaker(graph: Graph, _: Grammar, seed: int) -> str:
            text = baseline(model, shown + _asked(graph), Decoding(mode, max_tokens=max_tokens, seed=seed))
            return (text.strip().splitlines() or [""])[0]

        return speaker

    return {
        "unconstrained": free("greedy"),
        "unconstrained sampled": free("sample"),
        "random derivation": lambda _, grammar, seed: speak(grammar, model, "", Decoding("random", seed=seed)).text,
        "constrained, greedy": said("greedy"),
        "constrained, beam 5": said("beam"),
    }


SHOTS_SEED = 1000


def _shots(n: int) -> list[str]:
    """Short questions of different kinds about a calendar of their own, each with a reply that tells several facts."""
    shown: dict[str, str] = {}
    for case in made_up_cases(60, SHOTS_SEED):
        asked, reply = _asked(case.graph), _drawn(case.grammar)
        kind = asked.split("(", 3)[2]
        fits = len(asked) < 600 and not case.graph.failed(case.graph.root) and len(verify(reply, case.graph)) > 1
        if fits and kind not in shown:
            shown[kind] = f"{asked} {reply}"
    return list(shown.values())[:n]


def _asked(graph: Graph) -> str:
    return reply_prompt(graph).removeprefix(TASK).strip() + "\nReply:"


def _drawn(grammar: Grammar) -> str:
    return text_of(grammar, sampler(grammar, seed=SHOTS_SEED, weighted=True)())


@dataclass(frozen=True, slots=True)
class Recall:
    """How many planted lies of each kind there were and how many the verifier caught; false alarms among the truths."""

    planted: dict[str, int]
    caught: dict[str, int]
    truths: int
    alarms: int

    @property
    def share(self) -> float:
        """Caught lies of all, of 1."""
        return sum(self.caught.values()) / max(1, sum(self.planted.values()))


def recall(cases: Sequence[Case], draws: int = 3) -> Recall:
    """Plants lies in replies that the rules derive, and sees which the verifier finds."""
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    alarms = 0
    for seed, case in enumerate(cases):
        draw = sampler(case.grammar, seed=seed, weighted=True)
        for _ in range(draws):
            reply = text_of(case.grammar, draw())
            alarms += any(not claim.true for claim in verify(reply, case.graph))
            for lie in lies(reply, case.graph, seed):
                planted[lie.kind] += 1
                found[lie.kind] += caught(lie, case.graph)
    return Recall(dict(planted), {kind: found[kind] for kind in planted}, draws * len(cases), alarms)


def measure(name: str, speaker: Speaker, cases: Sequence[Case], count_tokens: Callable[[str], int]) -> Row:
    """One row: every case said once, and verified."""
    began = time.perf_counter()
    texts = [speaker(case.graph, case.grammar, seed) for seed, case in enumerate(cases)]
    seconds = time.perf_counter() - began
    claims = [verify(text, case.graph) for text, case in zip(texts, cases, strict=True)]
    flat: list[Claim] = [claim for found in claims for claim in found]
    n = max(1, len(cases))
    references = [case.reference for case in cases]
    scored = all(references) and bool(references)
    return Row(
        system=name,
        replies=len(texts),
        truthful=sum(all(claim.true for claim in found) for found in claims) / n,
        precision=sum(claim.true for claim in flat) / max(1, len(flat)),
        silent=sum(not found for found in claims) / n,
        informative=sum(bool(found) and all(claim.true for claim in found) for found in claims) / n,
        distinct=len(set(texts)) / n,
        bleu=_bleu(texts, references) if scored else None,
        rouge=_rouge(texts, references) if scored else None,
        tokens_per_second=sum(map(count_tokens, texts)) / seconds,
    )


def _bleu(texts: Sequence[str], references: Sequence[str]) -> float:
    try:
        import sacrebleu
    except ImportError:
        raise MissingExtra("BLEU", "evaluation") from None
    score: float = sacrebleu.corpus_bleu(list(texts), [list(references)], lowercase=True).score
    return score / 100


def _rouge(texts: Sequence[str], references: Sequence[str]) -> float:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise MissingExtra("ROUGE", "evaluation") from None
    scorer = RougeScorer(["rougeL"])
    scores = [scorer.score(r, t)["rougeL"].fmeasure for r, t in zip(references, texts, strict=True)]
    return float(sum(scores)) / max(1, len(scores))
