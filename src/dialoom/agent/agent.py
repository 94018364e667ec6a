"""The turn loop: redact -> tag -> route -> facts -> examples -> reply -> re-fill, each stage a record in the trace."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialoom.agent.facts import Facts
from dialoom.agent.model import Model
from dialoom.agent.responders import Answer, Responder, RetrieveResponder
from dialoom.agent.sequences import to_rounds
from dialoom.agent.trace import Recorder, Trace
from dialoom.automata.automaton import State
from dialoom.automata.router import Route
from dialoom.corpora.redaction import personal_values, redact, refill
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import ModelError, UsageError
from dialoom.examples.base import Example
from dialoom.files import writable
from dialoom.flows.application import Application
from dialoom.models.blocking import run_sync

Hook = Callable[[Dialogue, Route], Utterance | None]
"""Asked when a conversation leaves the automaton: an external tool may answer in the agent's place (sec. 3.3)."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished turn: the reply, where the conversation stands, what guided the reply, and the whole trace."""

    text: str
    tags: tuple[str, ...]
    state: State
    route: Route
    examples: tuple[Example, ...]
    answer: Answer
    trace: Trace

    def to_json(self) -> dict[str, Any]:
        """JSON values for logs and scripts."""
        return {
            "reply": self.text,
            "source": self.answer.source,
            "tags": list(self.tags),
            "state": {"id": self.state.id, "name": self.state.name},
            "confidence": round(self.route.confidence, 4),
            "fallback": self.route.fallback,
            "examples": [
                {"dialogue": example.dialogue.id, "reply": example.reply, "score": round(example.score, 4)}
                for example in self.examples
            ],
            "trace": self.trace.to_json(),
        }


class Agent:
    """Answers conversations with a learned model. Holds no conversation itself; `chat` starts one.

    `responder` makes the reply (default: the best example's own words). `hook` is asked first when the automaton has
    no answer of its own. `app` adds what is true: states that name a computation answer with its description, and
    where its planner finds that a turn needs knowledge sources, the reply is theirs.
    """

    def __init__(
        self,
        model: Model,
        responder: Responder | None = None,
        *,
        hook: Hook | None = None,
        app: Application | None = None,
    ) -> None:
        self.model = model
        self.responder: Responder = responder or RetrieveResponder()
        self.hook = hook
        self.facts = Facts(app, model.automaton) if app is not None else None

    def chat(self, id: str = "chat", *, user: str = "", log: Path | str | None = None) -> Chat:  # noqa: A002
        """A new conversation; with `log`, every finished turn is appended to that file as a line of JSON.

        `user` says whose memory and profile may be read; by default nobody's but the conversation's own.
        """
        return Chat(self, Dialogue(id, ()), user=user or id, log=Path(log) if log is not None else None)

    def place(self, context: Dialogue, recorder: Recorder) -> tuple[Dialogue, Route]:
        """The conversation redacted and tagged, and where it stands."""
        with recorder.stage("tag") as decided:
            settings = self.model.settings
            seen = redact(context, keep=settings.keep) if settings.redact else context
            tagged = self.model.tagger.tag(seen)
            decided["tags"] = list(tagged.utterances[-1].tags) if tagged.utterances else []
        with recorder.stage("route") as decided:
            route = self.model.router.route(to_rounds(tagged.utterances))
            decided.update(self._told(route))
        return tagged, route

    async def turn(self, context: Dialogue, user: str = "") -> Turn:
        """The reply to a conversation so far. Deterministic for a deterministic responder.

        A model that fails does not end the turn: the best example's words are said, and the trace tells why.
        """
        recorder = Recorder()
        with recorder.heard():
            return await self._turn(context, user or context.id, recorder)

    async def _turn(self, context: Dialogue, user: str, recorder: Recorder) -> Turn:
        tagged, route = self.place(context, recorder)
        told = await self.facts.tell(context, tagged, route, user, recorder) if self.facts is not None else None
        with recorder.stage("examples") as decided:
            examples = self.model.examples(tagged, route)
            decided["chosen"] = [
                {
                    "dialogue": example.dialogue.id,
                    "reply": example.reply,
                    "score": round(example.score, 4),
                    "reason": example.reason,
                    "text": example.reply_text,
                }
                for example in examples
            ]
        with recorder.stage("reply") as decided:
            answer = told or await self._answer(tagged, route, examples, recorder, decided)
            decided["source"] = answer.source
        with recorder.stage("refill") as decided:
            text = refill(answer.text, personal_values(context))
            decided["changed"] = text != answer.text
        tags = tagged.utterances[-1].tags if tagged.utterances else ()
        state = self.model.automaton.state(route.state)
        trace = Trace(tuple(recorder.stages), tuple(recorder.calls))
        return Turn(text, tags, state, route, tuple(examples), answer, trace)

    async def _answer(
        self,
        tagged: Dialogue,
        route: Route,
        examples: Sequence[Example],
        recorder: Recorder,
        decided: dict[str, Any],
    ) -> Answer:
        if route.fallback is not None and self.hook is not None:
            said = await asyncio.to_thread(self.hook, tagged, route)
            if said is not None:
                return Answer(said.text, "hook")
        try:
            return await self.responder.respond(tagged, examples, recorder)
        except (ModelError, TimeoutError) as error:
            decided["failed"] = f"{self.responder.name}: {error}"
            return await RetrieveResponder().respond(tagged, examples, recorder)

    def _told(self, route: Route) -> dict[str, Any]:
        automaton = self.model.automaton
        return {
            "state": automaton.state(route.state).name,
            "path": [
                {
                    "round": step.round,
                    "symbol": step.symbol,
                    "state": automaton.state(step.state).name,
                    "known": step.known,
                }
                for step in route.path
            ],
            "next": [{"tag": tag, "probability": round(share, 4)} for tag, share in route.next_tags[:5]],
            "confidence": round(route.confidence, 4),
            "fallback": route.fallback,
            "reason": route.reason,
        }


class Chat:
    """A conversation under way. A turn is applied whole or not at all: a failure leaves it as it was."""

    def __init__(self, agent: Agent, dialogue: Dialogue, *, user: str = "", log: Path | None = None) -> None:
        self.agent = agent
        self.dialogue = dialogue
        self.user = user
        self._log = log

    def say(self, text: str) -> Turn:
        """Say something to the agent and get its turn (`say_async` for use inside an event loop)."""
        return run_sync(self.say_async(text))

    async def say_async(self, text: str) -> Turn:
        """Say something to the agent and get its turn. Raises `UsageError` for a blank message."""
        if not text.strip():
            raise UsageError("A message needs at least one word.")
        return await self._advance(Utterance(Role.USER, text.strip()))

    def observe(self, tool: str, outcome: str, text: str = "", count: int | None = None) -> None:
        """Tell the agent what a tool returned; the next turn takes it into account as a round of its own."""
        annotations: dict[str, Any] = {"tool": tool, "outcome": outcome}
        if count is not None:
            annotations["count"] = count
        seen = Utterance(Role.TOOL, text or f"{tool}: {outcome}", annotations=annotations)
        self.dialogue = replace(self.dialogue, utterances=(*self.dialogue.utterances, seen))

    async def _advance(self, said: Utterance) -> Turn:
        asked = replace(self.dialogue, utterances=(*self.dialogue.utterances, said))
        turn = await self.agent.turn(asked, self.user)
        if self._log is not None:
            append(self._log, {"session": asked.id, "message": said.text, **turn.to_json()})
        self.dialogue = replace(asked, utterances=(*asked.utterances, Utterance(Role.SYSTEM, turn.text)))
        return turn


def append(path: Path, record: dict[str, Any]) -> None:
    """Add one line of JSON to a log in a single write, so that two writers cannot mix their lines.

    Raises `InvalidFile` where it cannot be written.
    """
    line = json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
