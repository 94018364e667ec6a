"""Automata: learned from tag sequences, walked, compared, checked, saved and drawn. Sees symbols, never text or models."""

from dialoom.automata.automaton import Automaton, State, Transition, Visit
from dialoom.automata.paper import learn_paper
from dialoom.automata.router import Candidate, Route, Router, Step
from dialoom.automata.symbols import Round, TagSequence

__all__ = [
    "Automaton",
    "Candidate",
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
