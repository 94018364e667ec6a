"""Nodes that tell facts: computations that cannot be, knowledge sources that nobody gave."""

from __future__ import annotations

from dialoom.dataflow import UNCHECKED, from_lispress
from dialoom.errors import UsageError
from dialoom.flows.application import Application
from dialoom.flows.checking.findings import Spot, Survey
from dialoom.flows.nodes import PLANNER, AnswerNode, DescribeNode


def unknown_facts(survey: Survey, app: Application | None) -> None:
    """Note computations, describers, answerers and sources that are not there."""
    for spot in survey.spots():
        if isinstance(spot.node, DescribeNode):
            _computation(survey, spot, spot.node, app)
        elif isinstance(spot.node, AnswerNode) and app is not None:
            _sources(survey, spot, spot.node, app)


def _computation(survey: Survey, spot: Spot, node: DescribeNode, app: Application | None) -> None:
    place = (*spot.place, "describe")
    if app is not None and app.describer is None:
        hint = "Give the application one: Application(describer=...)."
        survey.found("error", "no describer", place, "The application has no describer.", hint, spot)
    if not node.is_program:
        if app is not None and node.describe not in app.computations:
            survey.unknown("computation", node.describe, app.computations, place, spot)
        return
    try:
        if app is not None and app.describer is not None:
            app.describer.check(node.describe, list(node.arguments))
        else:
            from_lispress(node.describe, UNCHECKED, {name: UNCHECKED.constant(0) for name in node.arguments})
    except UsageError as error:
        survey.found("error", "computation", place, error.message, error.hint, spot)


def _sources(survey: Survey, spot: Spot, node: AnswerNode, app: Application) -> None:
    place = (*spot.place, "answer")
    if app.answerer is None:
        hint = "Give the application one: Application(answerer=...)."
        survey.found("error", "no answerer", place, "The application has no answerer.", hint, spot)
        return
    for name in node.answer if node.answer != PLANNER else ():
        if name not in app.answerer.sources:
            survey.unknown("knowledge source", name, app.answerer.sources, place, spot)
