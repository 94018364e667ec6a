"""The systems of tables 1 and 2 on the same computations, by automatic metrics and a verifier in place of people.

The paper has people judge grammar, relevance and truth. Truth alone can be checked here: the share of replies in which
the calendar's verifier finds no false claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialoom.dataflow import Graph
from dialoom.domains.calendar.smcalflow.replies import KnownReply
from dialoom.domains.calendar.verifier import verify
from dialoom.errors import UsageError
from dialoom.evaluation.bertscore import BertScore
from dialoom.evaluation.metrics import bleu, exact_match, rouge_l
from dialoom.evaluation.replies.settings import WHOLE, ReplySettings, Variant
from dialoom.evaluation.replies.tuning import prompt_of
from dialoom.generation import Decoding, Grammar, sampler, speak, text_of
from dialoom.generation.decoding import TokenModel, beam
from dialoom.generation.finetuning import load_base
from dialoom.generation.transformers_model import TransformersTokenModel

CANDIDATES = 5
"""Replies that a system gives, best first: the beam of the paper, and the 5 of R@5."""

Speaker = Callable[[KnownReply, Graph, Grammar, int], list[str]]
Watch = Callable[[str, Sequence[KnownReply]], Iterable[KnownReply]]


def silent(_system: str, replies: Sequence[KnownReply]) -> Iterable[KnownReply]:
    """A `Watch` that shows nothing."""
    return replies


@dataclass(frozen=True, slots=True)
class Scores:
    """One system on the test replies; every score is a share of 1.

    `truthful` is the share of replies without a false claim, `silent` of those without any claim that can be checked.
    """

    bleu: float
    rouge: float
    bertscore: float | None
    r1: float
    r5: float
    truthful: float
    silent: float


@dataclass(frozen=True, slots=True)
class Group:
    """One group of table 2: a model without and with the grammar; None where the model has not been tuned yet."""

    title: str
    variant: Variant
    unconstrained: Scores | None
    constrained: Scores | None


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything measured on `replies` test replies. `groups` starts with the model as it came."""

    replies: int
    random: Scores
    gold: Scores
    groups: tuple[Group, ...]

    @property
    def full(self) -> Group:
        """The tuned model of table 1: with the result, without the words, of most data, as far as it is there."""
        tuned = [group for group in self.groups[1:] if group.constrained is not None]
        return max(
            tuned or self.groups[1:],
            key=lambda group: (group.variant.result, not group.variant.words, group.variant.share),
        )

    def table1(self) -> list[tuple[str, Scores | None]]:
        """Rows of table 1, and one for the grammar with the model as it came."""
        full = self.full
        return [
            ("QCFG Random Sampling", self.random),
            ("Unconstrained Decoding", full.unconstrained),
            ("QCFG-Constrained Decoding, LM without fine-tuning", self.groups[0].constrained),
            ("QCFG-Constrained Decoding", full.constrained),
            ("Gold", self.gold),
        ]


def measure(
    settings: ReplySettings, test: Sequence[KnownReply], *, bert: BertScore | None = None, watch: Watch = silent
) -> Tables:
    """Every system of both tables on `test`; a variant that has not been tuned yet has no scores.

    `watch` is told the system and the replies that it is about to say, and may show how far it is.
    Raises `UsageError` without test replies, `MissingExtra` without the packages of the metrics.
    """
    if not test:
        raise UsageError("None of the test replies is true in a world that was found.", hint="Measure on more of them.")

    def spoken(title: str, variant: Variant, path: Path | str) -> Group:
        model = load_base(path)
        model.model.to(settings.chosen_device())
        speakers = (unconstrained(model, variant, settings.max_tokens), constrained(model, variant))
        return Group(title, variant, *(score(said, test, bert, watch(title, test)) for said in speakers))

    known = score(gold, test, bert, test)
    drawn = score(at_random, test, bert, watch("random sampling", test))
    groups = [spoken("LM without fine-tuning", Variant(), settings.model)]
    for variant in settings.variants:
        folder = settings.variant_out(variant) / WHOLE
        untuned = Group(variant.title, variant, None, None)
        groups.append(spoken(variant.title, variant, folder) if folder.exists() else untuned)
    return Tables(len(test), drawn, known, tuple(groups))


def gold(reply: KnownReply, _graph: Graph, _grammar: Grammar, _seed: int) -> list[str]:
    """The corpus's own reply."""
    return [reply.reply]


def at_random(_reply: KnownReply, _graph: Graph, grammar: Grammar, seed: int) -> list[str]:
    """Derivations drawn rule by rule, without a model."""
    draw = sampler(grammar, seed=seed, weighted=True)
    return [text_of(grammar, draw()) for _ in range(CANDIDATES)]


def unconstrained(model: TransformersTokenModel, shown: Variant, max_tokens: int) -> Speaker:
    """The beam without the grammar, ordered as the constrained one is: by likelihood per token."""

    def said(reply: KnownReply, *_: object) -> list[str]:
        session = model.session(prompt_of(reply, shown))
        found = beam(session, model.ends, None, width=CANDIDATES, max_tokens=max_tokens)
        found.sort(key=lambda text: -text.total / max(1, len(text.scores)))
        return [model.decode(text.tokens).decode("utf-8", "replace") for text in found]

    return said


def constrained(model: TokenModel, shown: Variant) -> Speaker:
    """The beam under the grammar."""

    def said(reply: KnownReply, _graph: Graph, grammar: Grammar, _seed: int) -> list[str]:
        found = speak(grammar, model, prompt_of(reply, shown), Decoding("beam", width=CANDIDATES))
        return [found.text, *found.alternatives]

    return said


def score(
    speaker: Speaker, test: Sequence[KnownReply], bert: BertScore | None, watched: Iterable[KnownReply]
) -> Scores:
    """A speaker on all of `test`, taken one by one from `watched`."""
    said, claims = [], []
    for seed, reply in enumerate(watched):
        graph = reply.graph()
        said.append(speaker(reply, graph, reply.grammar(graph), seed))
        claims.append(verify(said[-1][0], graph))
    references = [reply.reply for reply in test]
    first = [texts[0] for texts in said]

    def mean(values: Iterable[float]) -> float:
        return sum(values) / len(test)

    return Scores(
        bleu=bleu(first, references) / 100,
        rouge=mean(map(rouge_l, first, references)),
        bertscore=mean(bert.score(*pair)["f"] for pair in zip(first, references, strict=True)) if bert else None,
        r1=mean(map(exact_match, said, references, [1] * len(test))),
        r5=mean(map(exact_match, said, references, [CANDIDATES] * len(test))),
        truthful=mean(all(claim.true for claim in found) for found in claims),
        silent=mean(not found for found in claims),
    )
