"""Automata over symbols: learned, walked, compared, checked, saved and drawn. No text or model enters."""

from dialoom.automata.automaton import Automaton, State, Transition, Visit
from dialoom.automata.conformance import Conformance, conform
from dialoom.automata.difference import Difference, diff
from dialoom.automata.exports import export
from dialoom.automata.format import dumps, from_parts, loads, to_parts
from dialoom.automata.navigation import Mismatch, NavigationRouter, Navigator, Position
from dialoom.automata.paper import learn_paper
from dialoom.automata.predictive import PredictiveModel, PredictiveSettings, learn_predictive
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.router import Candidate, Route, Router, Step
from dialoom.automata.samples import with_samples
from dialoom.automata.symbols import Round, TagSequence

__all__ = [
    "Automaton",
    "Candidate",
    "Conformance",
    "Difference",
    "Mismatch",
    "NavigationRouter",
    "Navigator",
    "Position",
    "PredictiveModel",
    "PredictiveRouter",
    "PredictiveSettings",
    "Round",
    "Route",
    "Router",
    "State",
    "Step",
    "TagSequence",
    "Transition",
    "Visit",
    "conform",
    "diff",
    "dumps",
    "export",
    "from_parts",
    "learn_paper",
    "learn_predictive",
    "loads",
    "to_parts",
    "with_samples",
]
