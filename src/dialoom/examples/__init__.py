"""Which past dialogues to show for the turn at hand."""

from dialoom.examples.automaton import AutomatonSelector, Candidates
from dialoom.examples.base import Example, Selector
from dialoom.examples.bm25 import BM25Selector
from dialoom.examples.concatenation import ConcatenationSelector
from dialoom.examples.dense import DenseSelector
from dialoom.examples.mixture import Fallback, Mixture
from dialoom.examples.ranking import Ranker
from dialoom.examples.registry import SELECTORS, Selectors
from dialoom.examples.turns import TurnIndex
from dialoom.examples.uniform import RandomSelector

__all__ = [
    "SELECTORS",
    "AutomatonSelector",
    "BM25Selector",
    "Candidates",
    "ConcatenationSelector",
    "DenseSelector",
    "Example",
    "Fallback",
    "Mixture",
    "RandomSelector",
    "Ranker",
    "Selector",
    "Selectors",
    "TurnIndex",
]
