"""What is true at a turn of a learned agent: the computation that its state names, or what knowledge sources hold."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from dialoom.agent.responders import Answer
from dialoom.agent.trace import Recorder
from dialoom.automata.automaton import Automaton
from dialoom.automata.router import Route
from dialoom.dialogue import Dialogue
from dialoom.errors import DialoomError, UnknownName, UsageError
from dialoom.flows.application import Application, accepts


class Facts:
    """An application beside an automaton.

    Raises `UnknownName` for a state or a registered computation that is not there, and `UsageError` for a state with
    a computation and nobody to describe it.
    """

    def __init__(self, app: Application, automaton: Automaton) -> None:
        self.app = app
        self.automaton = automaton
        valid = {name for state in automaton.states for name in (state.name, state.tag) if name}
        for name, computation in app.states.items():
            if name not in valid:
                raise UnknownName("state", name, valid)
            if app.describer is None:
                raise UsageError(f"The state '{name}' names a computation, and the application has no describer.")
            if computation.startswith("("):
                app.describer.check(computation, ())
            elif computation not in app.computations:
                raise UnknownName("computation", computation, app.computations)

    async def tell(
        self, context: Dialogue, tagged: Dialogue, route: Route, user: str, recorder: Recorder
    ) -> Answer | None:
        """The reply from facts, or None where the turn needs none; a failure stands in the trace and is None too.

        Facts are looked up by what the user really wrote (`context`); `tagged` is the same with redacted texts.
        """
        described = await self._described(context, tagged, route, recorder)
        return described or await self._answered(context, user, recorder)

    async def _described(self, context: Dialogue, tagged: Dialogue, route: Route, recorder: Recorder) -> Answer | None:
        state = self.automaton.state(route.state)
        named = self.app.states.get(state.name) or self.app.states.get(state.tag)
        if not named or self.app.describer is None or route.fallback == "out_of_distribution":
            return None
        with recorder.stage("describe") as decided:
            decided["named"] = named
            try:
                computation = named if named.startswith("(") else await self._built(named, _labelled(context, tagged))
                if computation is None:
                    return None
                told = await self.app.describer.describe(computation, {}, context.utterances[-1].text)
            except Exception as error:  # functions of a domain are foreign code: they must not end the turn
                decided["failed"] = _said(error)
                return None
            decided.update(told.data)
        return Answer(told.text, "computation")

    async def _built(self, name: str, context: Dialogue) -> Any:
        function = self.app.computations[name]
        given = {"context": context} if accepts(function, "context") else {}
        return await asyncio.to_thread(function, **given)

    async def _answered(self, context: Dialogue, user: str, recorder: Recorder) -> Answer | None:
        answerer = self.app.answerer
        if answerer is None:
            return None
        with recorder.stage("knowledge") as decided:
            try:
                told = await answerer.consult(context, user)
            except Exception as error:  # sources and readers are foreign code: they must not end the turn
                decided["failed"] = _said(error)
                return None
            decided["outcome"] = told.outcome
        for name, facts in told.data.items():
            recorder.note(name, facts)
        return None if told.outcome == "no_source_needed" else Answer(told.text, "knowledge")


def _labelled(context: Dialogue, tagged: Dialogue) -> Dialogue:
    """The conversation as it was said, with the tags of its redacted twin."""
    pairs = zip(context.utterances, tagged.utterances, strict=True)
    return replace(context, utterances=tuple(replace(said, tags=twin.tags) for said, twin in pairs))


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, DialoomError) else f"{type(error).__name__}: {error}"
