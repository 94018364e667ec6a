"""Every selector against the laws of the port."""

from __future__ import annotations

from collections.abc import Iterable

from dialoom.dialogue import Dialogue
from dialoom.examples import ConcatenationSelector, DenseSelector, Selector, Selectors, TurnIndex
from dialoom.testing.encoders import EncoderConformance, HashedWords
from dialoom.testing.selectors import CORPUS, SelectorConformance

INDEX = TurnIndex.build(CORPUS)


def every_answer(context: Dialogue) -> Iterable[tuple[str, int]]:
    """Both replies of the dialogues that begin like a parcel question, none for unknown words."""
    if any("xyzzy" in utterance.text for utterance in context.utterances):
        return ()
    return (("track-1", 1), ("track-1", 3), ("track-2", 1), ("refund-1", 3))


def opened(name: str) -> Selector:
    return Selectors(INDEX, encoder=HashedWords(), candidates=every_answer, seed=7).open(name)


class TestRandom(SelectorConformance):
    def make(self) -> Selector:
        return opened("random")


class TestBM25(SelectorConformance):
    def make(self) -> Selector:
        return opened("bm25")


class TestDense(SelectorConformance):
    def make(self) -> Selector:
        return opened("dense")


class TestDenseHistory(SelectorConformance):
    def make(self) -> Selector:
        return opened("dense-history")


class TestConcatenation(SelectorConformance):
    def make(self) -> Selector:
        return opened("concatenation")


class TestApproximateConcatenation(SelectorConformance):
    def make(self) -> Selector:
        return ConcatenationSelector.build(INDEX, HashedWords(), approximate=True)


class TestApproximate(SelectorConformance):
    def make(self) -> Selector:
        return DenseSelector.build(INDEX, HashedWords(), approximate=True)


class TestHybrid(SelectorConformance):
    def make(self) -> Selector:
        return opened("hybrid")


class TestAutomaton(SelectorConformance):
    def make(self) -> Selector:
        return opened("automaton")


class TestAutomatonSampled(SelectorConformance):
    def make(self) -> Selector:
        return opened("automaton-sampled")


class TestMixture(SelectorConformance):
    def make(self) -> Selector:
        return opened("mixture")


class TestTheDoubleItself(EncoderConformance):
    def make(self) -> HashedWords:
        return HashedWords()
