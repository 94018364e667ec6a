"""Named ways to answer with past dialogues: the five approaches of S-ICL, DFA-RAG's, and a user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dialoom.agent.agent import Agent
from dialoom.agent.learn import learn
from dialoom.agent.model import Model
from dialoom.agent.responders import Answer, GenerateResponder, Responder, RetrieveResponder
from dialoom.agent.settings import LearnSettings
from dialoom.agent.trace import Recorder
from dialoom.dialogue import Dialogue, Role
from dialoom.encoders.base import Encoder
from dialoom.encoders.lsa import LSAEncoder
from dialoom.errors import NothingToLearn, UnknownName, UsageError
from dialoom.examples import SELECTORS, Example, Selector, Selectors, TurnIndex
from dialoom.examples.prompt import APPROACHES, PromptBuilder, Speakers
from dialoom.examples.records import record
from dialoom.models.base import LanguageModel, Sampling

LEARNED = "automaton"
"""The selector that learns an automaton from the training dialogues and takes its examples."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How to answer: a prompt `template` (None: no model, the best sample's own words), `samples` of a `selector`.

    With `fixed` one chosen sample is shown every time. With `whole` samples are complete dialogues, as DFA-RAG shows
    them; without, they end with the reply to imitate, as S-ICL's do.
    """

    template: str | None
    samples: int
    selector: str = "concatenation"
    fixed: bool = False
    whole: bool = False


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        name: Strategy(
            approach.template,
            approach.samples,
            LEARNED if name == "dfa-rag" else "concatenation",
            fixed=approach.fixed,
            whole=name == "dfa-rag",
        )
        for name, approach in APPROACHES.items()
    }
)
"""The five approaches of S-ICL (sec. 3.2) and DFA-RAG's, by the names of their prompts."""


@dataclass(frozen=True)
class Library:
    """Training dialogues and what strategies look up in them; each part is built on first use and shared.

    `encoder` is fitted to the dialogues when none is given. `seed` fixes random draws and learning. `approximate`
    finds near vectors by a neighbour graph, for sets too large to compare with every one.
    """

    dialogues: Sequence[Dialogue]
    encoder: Encoder | None = None
    seed: int = 0
    approximate: bool = False

    def selector(self, name: str) -> Selector:
        """The selector `name`, one of `SELECTORS` that need no more than transcripts. Raises `UnknownName`."""
        if name == LEARNED:
            return LearnedSelector(self.model)
        if name not in SELECTORS or name in ("automaton-sampled", "mixture"):
            valid = (LEARNED, *(known for known in SELECTORS if known not in ("automaton-sampled", "mixture")))
            raise UnknownName("selector", name, valid)
        return self._selectors.open(name)

    def sample(self, name: str | None = None) -> Example:
        """The sample `ID` or `ID#TURN` (default: its last system turn); without a name the most typical one.

        Typical is the turn whose context is nearest to the mean of all. Raises `UnknownName` for another id and
        `UsageError` for a turn that is not the system's.
        """
        if name is None:
            vectors = self._selectors.concatenation.vectors
            return self.index.example(int(np.argmax(vectors @ vectors.mean(axis=0))), 1.0, "the most typical sample")
        id_, _, turn = name.partition("#") if name not in self.index.ids else (name, "", "")
        if id_ not in self.index.ids:
            raise UnknownName("training dialogue", id_, self.index.ids[:8], hint="Only the first few are listed.")
        dialogue = self.index.dialogue(self.index.ids.index(id_))
        turns = [place for place, said in enumerate(dialogue.utterances) if said.role is Role.SYSTEM]
        if not turns or (turn and (not turn.isdigit() or int(turn) not in turns)):
            valid = ", ".join(f"{id_}#{place}" for place in turns) or "it has none"
            raise UsageError(f"'{name}' is no system turn of dialogue '{id_}'.", hint=f"Its system turns: {valid}.")
        return Example(dialogue, int(turn) if turn else turns[-1], 1.0, "chosen by name")

    @cached_property
    def index(self) -> TurnIndex:
        """Every system turn. Raises `NothingToLearn` when there is none."""
        index = TurnIndex.build(self.dialogues)
        if not len(index):
            raise NothingToLearn("The training dialogues have no system turn to learn from.")
        return index

    @cached_property
    def model(self) -> Model:
        """The agent learned from the dialogues, personal data and all, as every other selector sees them."""
        return learn(self.dialogues, LearnSettings(redact=False, seed=self.seed))

    @cached_property
    def _selectors(self) -> Selectors:
        encoder = self.encoder or LSAEncoder.fit(u.text for d in self.index.dialogues() for u in d.utterances)
        return Selectors(self.index, encoder, seed=self.seed, approximate=self.approximate)


@dataclass(frozen=True, slots=True)
class LearnedSelector:
    """Examples of the state that a conversation stands in, as the agent of a learned model chooses them."""

    model: Model

    def select(self, context: Dialogue, n: int = 5) -> Sequence[Example]:
        """The past turns to imitate."""
        tagged, route = Agent(self.model).place(context, Recorder())
        return self.model.examples(tagged, route, n)


@dataclass(frozen=True, slots=True)
class StrategyAgent:
    """A strategy at work: answers a conversation with the samples it finds."""

    strategy: Strategy
    responder: Responder
    selector: Selector | None = None
    sample: Example | None = None

    async def answer(self, context: Dialogue, recorder: Recorder) -> Answer:
        """The reply to the last utterance of `context`. Raises a `ModelError` when the model fails."""
        with recorder.stage("examples") as decided:
            examples = self.examples(context)
            decided["chosen"] = [{"dialogue": found.dialogue.id, "reply": found.reply} for found in examples]
        with recorder.stage("reply"):
            return await self.responder.respond(context, examples, recorder)

    def examples(self, context: Dialogue) -> Sequence[Example]:
        """The samples for a conversation, best first."""
        if self.sample is not None:
            found: Sequence[Example] = [self.sample]
        elif self.selector is not None and self.strategy.samples:
            found = self.selector.select(context, self.strategy.samples)
        else:
            found = []
        return found if self.strategy.whole else [record(example) for example in found]


@dataclass(frozen=True, slots=True)
class Prompting:
    """How a strategy asks its model: what speakers are called, whose templates are used, and how much is written."""

    speakers: Speakers = field(default_factory=Speakers)
    folder: Path | None = None
    budget: int = 1500
    max_tokens: int = 160
    timeout: float = 60.0


def open_strategy(
    strategy: Strategy,
    library: Library,
    model: LanguageModel | None = None,
    prompting: Prompting | None = None,
    *,
    sample: str | None = None,
) -> StrategyAgent:
    """A strategy made ready to answer with what `library` holds. Temperature is 0, as in the paper (sec. 2.6).

    `sample` names the fixed sample. Raises `UsageError` when a strategy that prompts has no model, and what the
    library raises for unknown names.
    """
    how = prompting or Prompting()
    if strategy.template is None:
        responder: Responder = RetrieveResponder()
    elif model is None:
        raise UsageError(f"The strategy with the prompt '{strategy.template}' needs a model to ask.")
    else:
        prompt = PromptBuilder(strategy.template, speakers=how.speakers, folder=how.folder, budget=how.budget)
        responder = GenerateResponder(model, prompt, Sampling(max_tokens=how.max_tokens), how.timeout)
    if strategy.fixed:
        return StrategyAgent(strategy, responder, sample=library.sample(sample))
    if sample is not None:
        raise UsageError("Only a strategy with a fixed sample takes the name of one.")
    return StrategyAgent(strategy, responder, library.selector(strategy.selector) if strategy.samples else None)
