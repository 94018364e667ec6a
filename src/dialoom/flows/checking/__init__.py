"""Checks of a flow before anybody talks to it: names, paths, schemas, constraints."""

from __future__ import annotations

from dialoom.flows.application import Application
from dialoom.flows.checking.constraints import contradictions
from dialoom.flows.checking.facts import unknown_facts
from dialoom.flows.checking.findings import Finding, Survey
from dialoom.flows.checking.names import unknown_names
from dialoom.flows.checking.paths import broken_paths
from dialoom.flows.checking.schemas import broken_schemas
from dialoom.flows.load import LoadedFlow

__all__ = ["Finding", "check"]


def check(loaded: LoadedFlow, app: Application | None = None) -> list[Finding]:
    """Everything wrong with a flow, in the order of the file.

    With the application's registry, names of functions, constraints, recognisers and output models are checked too.
    """
    survey = Survey(loaded)
    for look in (unknown_names, unknown_facts, broken_paths, broken_schemas, contradictions):
        look(survey, app)
    return sorted(survey.findings, key=lambda item: (item.line, item.severity, item.message))
