"""Automata over symbols: learned, walked, compared, checked, saved and drawn. No text or model enters."""

from dialoom.automata.automaton import Automaton, State, Transition, Visit
from dialoom.automata.navigation import Mismatch, NavigationRouter, Navigator, Position
from dialoom.automata.paper import learn_paper
from dialoom.automata.router import Candidate, Route, Router, Step
from dialoom.automata.symbols import Round, TagSequence

__all__ = [
    "Automaton",
    "Candidate",
    "Mismatch",
    "NavigationRouter",
    "Navigator",
    "Position",
    "Round",
    "Route",
    "Router",
    "State",
    "Step",
    "TagSequence",
    "Transition",
    "Visit",
    "learn_paper",
]
