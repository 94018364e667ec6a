"""The systems of an experiment: each answers items, and says what that cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from dialoom.agent.agent import Agent
from dialoom.agent.model import Model
from dialoom.agent.responders import Answer, GenerateResponder, Responder, open_responder
from dialoom.agent.strategies import LEARNED, STRATEGIES, Library, Prompting, Strategy, StrategyAgent, open_strategy
from dialoom.agent.trace import Call, Recorder
from dialoom.dialogue import Role
from dialoom.encoders.base import Encoder
from dialoom.encoders.registry import open_encoder
from dialoom.errors import InvalidFile, UnknownName, UsageError
from dialoom.evaluation.experiments.definition import Encoding, Price, System
from dialoom.evaluation.experiments.fingerprints import code_digest, file_digest, model_digest
from dialoom.evaluation.experiments.items import Data, Item
from dialoom.evaluation.experiments.ledger import digest
from dialoom.evaluation.simulation.partners import FlowPartner
from dialoom.examples.base import Example
from dialoom.examples.prompt import Speakers
from dialoom.files import read_text
from dialoom.flows import Application, Ports, load_application
from dialoom.models.base import LanguageModel
from dialoom.models.opening import open_model

LARGEST = 64 * 1024 * 1024
CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system said to an item. `candidates` are replies it chose among, best first; `note` says what failed.

    `examples` are the past turns used, "ID#TURN", and `taken` the one whose words were said. `action`, `plan` and
    `evidence` are what a prediction file claims beside the words.
    """

    text: str
    candidates: tuple[str, ...] = ()
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None
    milliseconds: float = 0.0
    note: str = ""
    examples: tuple[str, ...] = ()
    taken: str = ""
    action: str | None = None
    plan: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ()


class Answering(Protocol):
    """A system made ready for one data set and seed."""

    async def reply(self, item: Item) -> Reply | None:
        """The reply, or None where the system has none to give (a prediction that is missing)."""
        ...


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens systems. `models` opens a language model by its name, so that tests and callers can give their own.

    `prices` are those of models, for systems without one of their own; `app` is the application module of flows.
    """

    folder: Path
    models: Callable[[str], LanguageModel] = open_model
    prices: Mapping[str, Price] = field(default_factory=dict)
    app: Path | None = None
    _libraries: dict[tuple[str, int, Encoding], Library] = field(default_factory=dict)
    _encoders: dict[tuple[str, str | None], Encoder] = field(default_factory=dict)

    def open(self, spec: System, data: Data, seed: int) -> Answering:
        """The system, ready. Raises `UsageError` for names and files that do not fit."""
        price = spec.price or self.prices.get(spec.model or "")
        if spec.agent is not None:
            return AgentSystem(self._agent(spec), price)
        if spec.flow is not None:
            return FlowSystem(self._flow(spec), price)
        if spec.predictions is not None:
            return PredictionSystem(read_predictions(self.folder / spec.predictions, data))
        speakers = Speakers(data.spec.speakers.user, data.spec.speakers.system)
        template = self.folder / spec.template if spec.template is not None else None
        prompting = Prompting(
            speakers, template.parent if template else None, spec.prompt_tokens, spec.max_tokens, spec.timeout
        )
        strategy = strategy_of(spec)
        if strategy.samples and not data.train:
            raise UsageError(
                f"System '{spec.name}' takes samples, and data set '{data.spec.name}' has no training dialogues.",
                hint="Give the data set `train`, or split it with `data`.",
            )
        model = self.models(spec.model) if spec.model is not None else None
        library = self.library(data, seed, spec.encoding or Encoding())
        return StrategySystem(open_strategy(strategy, library, model, prompting, sample=spec.sample), price)

    def library(self, data: Data, seed: int, encoding: Encoding) -> Library:
        """The training dialogues with what is looked up in them, built once for all systems that encode alike."""
        key = (data.spec.name, seed, encoding)
        if key not in self._libraries:
            encoder = None if encoding.encoder == "lsa" else self._encoder(encoding)
            self._libraries[key] = Library(data.train, encoder, seed=seed, approximate=encoding.search == "hnsw")
        return self._libraries[key]

    def _encoder(self, encoding: Encoding) -> Encoder:
        key = (encoding.encoder, encoding.pooling)
        if key not in self._encoders:
            spec = _placed(encoding.encoder, self.folder)
            self._encoders[key] = open_encoder(spec, pooling=encoding.pooling)
        return self._encoders[key]

    def identity(self, spec: System, data: Data, seed: int) -> str:
        """A hash of all that a system's replies depend on, code and files too: equal identities give equal replies."""
        told: dict[str, Any] = spec.model_dump(mode="json", exclude={"name", "price", "timeout"})
        told["code"] = code_digest("flows") if spec.flow is not None else code_digest()
        if spec.flow is not None and self.app is not None:
            told["app_file"] = file_digest(self.app)
        told["model_file"] = model_digest(spec.model or "", Path())
        if spec.kind in ("strategy", "template"):
            strategy = strategy_of(spec)
            if strategy.samples:
                told["train"] = data.train_digest
            if strategy.samples and strategy.selector in ("random", LEARNED):
                told["seed"] = seed
            told["speakers"] = data.spec.speakers.model_dump()
        if spec.encoding is not None:
            told["encoder_files"] = model_digest(spec.encoding.encoder, self.folder)
        for kind in ("agent", "flow", "template", "predictions"):
            path = getattr(spec, kind)
            if path is not None:
                told[f"{kind}_file"] = file_digest(self.folder / path)
        return digest(told)

    def _agent(self, spec: System) -> Agent:
        assert spec.agent is not None  # noqa: S101 - the caller looked
        return Agent(Model.load(self.folder / spec.agent), self._responder(spec.model or "retrieve"))

    def _flow(self, spec: System) -> FlowPartner:
        application = load_application(self.app) if self.app is not None else Application()
        model = None if spec.model is None else self.models(spec.model)
        return FlowPartner(self.folder / str(spec.flow), Ports(application, model))

    def _responder(self, spec: str) -> Responder:
        return open_responder(spec) if spec in ("retrieve", "ranked") else GenerateResponder(self.models(spec))


def strategy_of(spec: System) -> Strategy:
    """The strategy that a system names or describes. Raises `UnknownName`."""
    if spec.strategy is not None and spec.strategy not in STRATEGIES:
        raise UnknownName("strategy", spec.strategy, STRATEGIES)
    if spec.strategy is not None:
        base = STRATEGIES[spec.strategy]
    else:
        base = Strategy(Path(str(spec.template)).stem, 3, fixed=spec.sample is not None)
    samples = base.samples if spec.samples is None else spec.samples
    return Strategy(base.template, samples, spec.selector or base.selector, fixed=base.fixed, whole=base.whole)


@dataclass(frozen=True, slots=True)
class AgentSystem:
    """A learned agent. Where its model fails it says the best example's words, as it does to users; `note` tells."""

    agent: Agent
    price: Price | None

    async def reply(self, item: Item) -> Reply:
        """The agent's turn."""
        turn = await self.agent.turn(item.context)
        failed = str(turn.trace.decided("reply").get("failed", ""))
        candidates = _candidates(turn.text, (example.reply_text for example in turn.examples))
        reply = _reply(turn.text, candidates, turn.trace.calls, turn.trace.milliseconds, self.price, failed)
        return replace(reply, examples=tuple(map(_named, turn.examples)), taken=_taken(turn.answer))


@dataclass(frozen=True, slots=True)
class FlowSystem:
    """An authored flow that hears what the user said so far, line by line; its reply to the last line counts.

    It follows its own replies, as it does with users, and not those of the past agent.
    """

    flow: FlowPartner
    price: Price | None

    async def reply(self, item: Item) -> Reply:
        """The flow's turn; calls are those of the whole way there, milliseconds of the turn itself."""
        talk = self.flow.begin(item.id)
        heard = [first] if (first := await talk.open()) is not None else []
        for said in item.context.utterances:
            if said.role is Role.USER and not (heard and heard[-1].closed):
                heard.append(await talk.say(said.text))
        calls = [Call(call.model, (), "", call.usage, 0.0) for turn in heard for call in turn.called]
        note = "its model failed" if heard[-1].fallback else ""
        return _reply(heard[-1].text, (heard[-1].text,), calls, heard[-1].milliseconds, self.price, note)


@dataclass(frozen=True, slots=True)
class StrategySystem:
    """A strategy over training dialogues."""

    agent: StrategyAgent
    price: Price | None

    async def reply(self, item: Item) -> Reply:
        """The strategy's answer. Raises a `ModelError` when its model fails."""
        recorder = Recorder()
        start = time.perf_counter()
        answer = await self.agent.answer(item.context, recorder)
        took = (time.perf_counter() - start) * 1000.0
        examples = self.agent.examples(item.context)
        candidates: tuple[str, ...] = (answer.text,)
        if self.agent.strategy.template is None:
            candidates = _candidates(answer.text, (example.reply_text for example in examples))
        reply = _reply(answer.text, candidates, recorder.calls, took, self.price)
        return replace(reply, examples=tuple(map(_named, examples)), taken=_taken(answer))


@dataclass(frozen=True, slots=True)
class PredictionSystem:
    """Replies that were made elsewhere."""

    predictions: Mapping[tuple[str, int], Reply]

    async def reply(self, item: Item) -> Reply | None:
        """The prediction, or None where the file has none."""
        return self.predictions.get((item.dialogue, item.turn))


def read_predictions(path: Path, data: Data) -> dict[tuple[str, int], Reply]:
    """Predictions by (dialogue, turn); lines of another data set are passed over.

    A line is {"dialogue", "turn", "text"}, with "dataset" where a file serves several, and "action", "plan" (sources)
    and "evidence" (ids, best first) for the metrics of these. Raises `InvalidFile` that names the line for one that is
    broken, repeated, or of a turn that is not asked for.
    """
    asked = {(item.dialogue, item.turn) for item in data.items}
    dialogues = {dialogue.id for dialogue in data.test}
    found: dict[tuple[str, int], Reply] = {}
    for number, line in enumerate(read_text(path, limit=LARGEST).splitlines(), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            value = json.loads(line)
            if value.get("dataset", data.spec.name) != data.spec.name:
                continue
            key, text = (str(value["dialogue"]), int(value["turn"])), value["text"]
            reply = Reply(text, (text,), action=value.get("action"), plan=_claimed(value, "plan"))
            reply = replace(reply, evidence=_claimed(value, "evidence") or ())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidFile(path, f"not a prediction ({error}).", place=place, hint=_FORM) from error
        if not isinstance(text, str):
            raise InvalidFile(path, "the text is no string.", place=place, hint=_FORM)
        if key in found:
            raise InvalidFile(path, f"a second prediction for turn {key[1]} of '{key[0]}'.", place=place)
        if key not in asked and key[0] in dialogues:
            turns = sorted(turn for name, turn in asked if name == key[0])
            problem = f"turn {key[1]} of dialogue '{key[0]}' is not asked for."
            raise InvalidFile(path, problem, place=place, hint=f"Its turns: {', '.join(map(str, turns))}.")
        found[key] = reply
    if not asked & set(found):
        raise InvalidFile(path, f"it predicts none of the turns of data set '{data.spec.name}'.", hint=_FORM)
    return found


_FORM = 'A line is {"dialogue": "ID", "turn": 3, "text": "..."}; `dialoom eval dialogues --items` lists the turns.'


def _claimed(value: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    listed = value.get(name)
    if listed is not None and not isinstance(listed, list):
        raise TypeError(f"{name} is no list")
    return None if listed is None else tuple(map(str, listed))


def _candidates(text: str, replies: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys((text, *replies)))[:CANDIDATES]


def _reply(
    text: str, candidates: tuple[str, ...], calls: Any, milliseconds: float, price: Price | None, note: str = ""
) -> Reply:
    listed: list[Call] = list(calls)
    prompt = sum(call.usage.prompt_tokens for call in listed)
    completion = sum(call.usage.completion_tokens for call in listed)
    costs = [call.usage.cost for call in listed if call.usage.cost is not None]
    dollars: float | None = sum(costs) if costs else None
    if dollars is None and price is not None:
        dollars = (prompt * price.prompt + completion * price.completion) / 1e6
    return Reply(text, candidates, len(listed), prompt, completion, dollars, milliseconds, note)


def _named(example: Example) -> str:
    return f"{example.dialogue.id}#{example.reply}"


def _taken(answer: Answer) -> str:
    return "" if answer.example is None else _named(answer.example)


def _placed(encoder: str, folder: Path) -> str:
    """`encoder` with the path of its folder, where it names one, seen from the experiment file."""
    kind, _, what = encoder.partition(":")
    return f"{kind}:{folder / what}" if what and (folder / what).is_dir() else encoder
