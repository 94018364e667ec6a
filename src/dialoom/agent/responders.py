"""How a turn becomes a reply: the best example's own words, those words ranked by a model, or a generating model.

A responder sees redacted text only, so nothing of another person's data can pass through it; the agent re-fills its
answer from the conversation at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from dialoom.agent.trace import Call, Recorder
from dialoom.dialogue import Dialogue, Role
from dialoom.errors import ModelError, ModelRefused, UnknownName, UsageError
from dialoom.examples.base import Example
from dialoom.examples.prompt import PromptBuilder
from dialoom.models.base import LanguageModel, Message, Request, Sampling, Scorer
from dialoom.models.opening import open_model

NOTHING_TO_SAY = "I'm sorry, I don't know how to help with that. Let me pass you on to a colleague."


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply before it is re-filled: its text, who produced it, and the example it was taken from, if any."""

    text: str
    source: str
    example: Example | None = None


class Responder(Protocol):
    """Answers a conversation with the examples chosen for it."""

    @property
    def name(self) -> str:
        """What traces call it."""
        ...

    async def respond(self, context: Dialogue, examples: Sequence[Example], recorder: Recorder) -> Answer:
        """The answer to the last utterance of `context`; model calls go into `recorder`."""
        ...


@dataclass(frozen=True, slots=True)
class RetrieveResponder:
    """Answers with the reply of the best example. No model at all."""

    name: str = "retrieve"

    async def respond(self, context: Dialogue, examples: Sequence[Example], recorder: Recorder) -> Answer:  # noqa: ARG002
        """The first example's reply, or an honest hand-off where nothing was found."""
        if not examples:
            return Answer(NOTHING_TO_SAY, self.name)
        return Answer(examples[0].reply_text, self.name, examples[0])


@dataclass(frozen=True, slots=True)
class RankedResponder:
    """Answers with the vetted reply that a model finds likeliest; the model cannot say anything of its own.

    Only examples whose score is within `margin` of the best are ranked, so likelihood breaks ties and never overrules
    retrieval. With a single candidate no call is made. `window` utterances of context are shown to the model.
    """

    model: Scorer
    name: str = "ranked"
    margin: float = 0.1
    window: int = 4

    async def respond(self, context: Dialogue, examples: Sequence[Example], recorder: Recorder) -> Answer:
        """The likeliest of the best examples' replies."""
        vetted: dict[str, Example] = {}
        for example in examples:
            if example.score >= examples[0].score - self.margin:
                vetted.setdefault(example.reply_text, example)
        if len(vetted) < 2:
            return await RetrieveResponder(self.name).respond(context, examples, recorder)
        with recorder.stage("rank") as decided:
            scores = await self.model.score(chat(context, self.window), tuple(vetted))
            decided["candidates"] = [
                {"text": text, "log_likelihood": round(score, 4)} for text, score in zip(vetted, scores, strict=True)
            ]
        best = max(range(len(scores)), key=scores.__getitem__)
        text, example = list(vetted.items())[best]
        return Answer(text, self.name, example)


@dataclass(frozen=True, slots=True)
class GenerateResponder:
    """Answers with a generating model that sees the examples in its prompt (DFA-RAG sec. 3.3)."""

    model: LanguageModel
    prompt: PromptBuilder = field(default_factory=PromptBuilder)
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=160))
    timeout: float = 60.0

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def respond(self, context: Dialogue, examples: Sequence[Example], recorder: Recorder) -> Answer:
        """The model's reply.

        Raises a `ModelError` when the conversation does not fit into a prompt, the call fails or nothing usable comes.
        """
        try:
            prompt = self.prompt.build(context, examples)
        except UsageError as error:
            raise ModelRefused(error.message) from error
        sampling = replace(self.sampling, stop=(*self.sampling.stop, *prompt.stop))
        completion = await self.model.generate(Request(prompt.messages, sampling, timeout=self.timeout))
        recorder.calls.append(Call.of(prompt.messages, completion))
        text = prompt.reply(completion.text)
        if not text:
            raise ModelError(f"{self.model.name} answered nothing usable.")
        return Answer(text, self.name)


def chat(context: Dialogue, window: int) -> tuple[Message, ...]:
    """The last `window` user and system utterances as chat messages."""
    spoken = [utterance for utterance in context.utterances if utterance.role is not Role.TOOL][-window:]
    return tuple(Message("user" if said.role is Role.USER else "assistant", said.text) for said in spoken)


def open_responder(spec: str) -> Responder:
    """The responder that `--model` names: `retrieve`, `ranked`, or a generating model as `open_model` takes it.

    Raises `UnknownName` for any other name. Nothing is loaded before the first reply.
    """
    if spec == "retrieve":
        return RetrieveResponder()
    if spec == "ranked":
        from dialoom.models.embedded import EmbeddedModel

        return RankedResponder(EmbeddedModel())
    try:
        return GenerateResponder(open_model(spec))
    except UnknownName as error:
        raise UnknownName(error.kind, error.name, ("retrieve", "ranked", *error.valid)) from None
