"""The nodes `describe` and `answer`: a reply about a computation, a reply from knowledge sources."""

from __future__ import annotations

import asyncio
from typing import Any

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import DialoomError, UnknownName, UsageError
from dialoom.flows.calling import in_thread, take_way_out
from dialoom.flows.expressions import fill, render
from dialoom.flows.facts import Told
from dialoom.flows.nodes import HAND_OFF, PLANNER, AnswerNode, DescribeNode
from dialoom.flows.stack import go
from dialoom.flows.work import Work


async def describe(work: Work, node: DescribeNode) -> None:
    """Do a `describe` node: say what its computation shows; a failure takes the declared way out."""
    try:
        given = fill(node.arguments, work.values())
        told = await asyncio.wait_for(_described(work, node, given), node.timeout)
    except TimeoutError:
        _failed(work, node, f"no description within {node.timeout:g} s")
    except Exception as error:  # functions of the domain are foreign code: whatever they raise must not end the turn
        _failed(work, node, _said(error))
    else:
        work.say(told.text, "describe")
        name = "" if node.is_program else node.describe
        work.record("described", "describe", node=work.frame.node, function=name, text=told.text, **told.data)
        go(work, node.go, "described")


async def answer(work: Work, node: AnswerNode) -> None:
    """Do an `answer` node: say what the sources hold; not finding it and failing take the declared ways out."""
    try:
        told = await asyncio.wait_for(_answered(work, node), node.timeout)
    except TimeoutError:
        _failed(work, node, f"no answer within {node.timeout:g} s")
        return
    except Exception as error:  # sources and readers are foreign code: whatever they raise must not end the turn
        _failed(work, node, _said(error))
        return
    work.say(told.text, "answer")
    work.record("answered", "answer", node=work.frame.node, text=told.text, outcome=told.outcome, **told.data)
    if told.outcome == "hand_off":
        go(work, HAND_OFF, "answer")
    else:
        go(work, node.not_found if told.outcome == "not_found" and node.not_found else node.go, told.outcome)


async def _described(work: Work, node: DescribeNode, given: dict[str, Any]) -> Told:
    app = work.ports.app
    if app.describer is None:
        raise UsageError("The application has no describer.", hint="Write: Application(describer=...).")
    if node.is_program:
        return await app.describer.describe(node.describe, given, work.text)
    if node.describe not in app.computations:
        raise UnknownName("computation", node.describe, app.computations)
    function = app.computations[node.describe]
    return await app.describer.describe(await in_thread(lambda: function(**given)), {}, work.text)


async def _answered(work: Work, node: AnswerNode) -> Told:
    answerer = work.ports.app.answerer
    if answerer is None:
        raise UsageError("The application has no answerer.", hint="Write: Application(answerer=...).")
    values = work.values()
    heard = work.hearing.text if work.hearing is not None else work.text  # a request that waited has words of its own
    asked = render(node.question, values) if node.question else heard
    if not asked:
        raise UsageError("The user has not asked anything yet.", hint="Give the node a `question`.")
    roles = {"user": Role.USER, "assistant": Role.SYSTEM}
    spoken = [Utterance(roles[item.role], item.text) for item in work.state.history if item.text]
    if asked != work.text:
        spoken.append(Utterance(Role.USER, asked))
    user = render(node.user, values) if node.user else work.state.session
    sources = None if node.answer == PLANNER else list(node.answer)
    return await answerer.answer(Dialogue(work.state.session, tuple(spoken)), user, sources)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, DialoomError) else f"{type(error).__name__}: {error}"


def _failed(work: Work, node: DescribeNode | AnswerNode, error: str) -> None:
    work.record("telling_failed", "error", node=work.frame.node, error=error)
    take_way_out(work, node.on_error, node.go)
