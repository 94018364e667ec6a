"""The experiment file: what is compared, on what, by which measures and at which price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dialoom.errors import InvalidFile
from dialoom.evaluation.experiments.measures import measure
from dialoom.files import read_text

MAX_BYTES = 1024 * 1024
Name = Annotated[str, Field(pattern=r"^[\w.+-]+( [\w.+-]+)*$", max_length=80)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpeakerNames(_Part):
    """What the two sides are called in prompts."""

    user: str = "User"
    system: str = "System"


class Dataset(_Part):
    """Dialogues: either `data`, split here, or `train` and `test`."""

    name: Name
    data: tuple[str, ...] = Field((), description="Transcripts to split into training and test.")
    train: tuple[str, ...] = Field((), description="Training transcripts; none are needed without strategies.")
    test: tuple[str, ...] = Field((), description="Test transcripts.")
    format: str = Field("auto", description="A name that `dialoom formats` lists.")
    split: float = Field(0.2, gt=0, lt=1, description="With `data`: the share of the dialogues that is tested.")
    overlap_free: bool = Field(False, description="With `data`: no test dialogue shares an utterance with training.")
    seed: int = Field(0, ge=0, description="Seed of the split and of the choice of `dialogues`.")
    dialogues: int | None = Field(None, ge=1, description="Test on at most this many dialogues, drawn by the seed.")
    turns: Literal["all", "last"] = Field("all", description="Which system turns of a test dialogue are asked for.")
    domain: str | None = Field(None, description="The key of the metadata that names a dialogue's domain.")
    tools: bool = Field(True, description="Whether tool rounds are shown.")
    speakers: SpeakerNames = SpeakerNames()

    @model_validator(mode="after")
    def _one_source(self) -> Dataset:
        if bool(self.data) == bool(self.test):
            raise ValueError("give either data, or test with train")
        if self.data and self.train:
            raise ValueError("train goes with test; data is split")
        return self


class Price(_Part):
    """US dollars per million tokens, where the model's own adapter knows no price."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)


class Encoding(_Part):
    """How texts become vectors and how near ones are found (S-ICL sec. 2.3 and 2.4)."""

    encoder: str = Field(
        "lsa", description="`lsa`, fitted on the training dialogues, or onnx:FOLDER, sentence-transformers:FOLDER, ..."
    )
    pooling: Literal["cls", "mean"] | None = Field(None, description="How token vectors are pooled; default: as saved.")
    search: Literal["exact", "hnsw"] = Field("exact", description="Every vector compared, or a neighbour graph.")

    @model_validator(mode="after")
    def _pools(self) -> Encoding:
        if self.encoder == "lsa" and self.pooling:
            raise ValueError("lsa has no token vectors, so there is nothing to pool")
        return self


class System(_Part):
    """What answers: one of `agent`, `flow`, `strategy`, `template` or `predictions`."""

    name: Name
    agent: str | None = Field(None, description="A learned model file; `model` says who replies (default retrieve).")
    flow: str | None = Field(None, description="An authored flow, a .yaml file; its application module is an option.")
    strategy: str | None = Field(None, description="A named way of prompting, such as s-icl-three-samples.")
    template: str | None = Field(None, description="A prompt template of your own, a .j2 file.")
    predictions: str | None = Field(None, description='JSON lines {"dialogue", "turn", "text"} made elsewhere.')
    model: str | None = Field(None, description="The language model, as `dialoom chat --model` takes it.")
    selector: str | None = Field(None, description="Where samples come from; a strategy has its own default.")
    encoding: Encoding | None = Field(None, description="For selectors that compare vectors; default: lsa, exact.")
    samples: int | None = Field(None, ge=0, le=20, description="How many samples are shown.")
    sample: str | None = Field(None, description="The fixed sample: ID or ID#TURN of a training dialogue.")
    max_tokens: int = Field(160, ge=1)
    prompt_tokens: int = Field(1500, ge=50, description="The most tokens of a prompt; samples are dropped to fit.")
    timeout: float = Field(60.0, gt=0, description="Seconds a call may take.")
    price: Price | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> System:
        kinds = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(f"say what answers: exactly one of {', '.join(KINDS)}")
        chosen = self.selector or self.samples is not None or self.sample or self.encoding
        if kinds[0] in ("agent", "flow", "predictions") and chosen:
            raise ValueError("selector, encoding, samples and sample belong to a strategy or a template")
        if self.encoding and self.selector in BLIND:
            raise ValueError(f"the selector {self.selector} compares no vectors, so encoding means nothing to it")
        return self

    @property
    def kind(self) -> str:
        """Which of `KINDS` it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)


KINDS = ("agent", "flow", "strategy", "template", "predictions")
BLIND = ("automaton", "bm25", "random")
"""Selectors that take no encoder: they compare no vectors, or bring their own."""


class Judge(_Part):
    """Who says which of two completed dialogues is nearer to the true one (DFA-RAG sec. 4.1)."""

    against: Name = Field(description="The system that every other one is compared with.")
    models: tuple[str, ...] = Field(min_length=1, description="One judge, or a panel.")
    template: str = Field("judge-dfa-rag", description="The judge's prompt: the shipped one or a .j2 file.")
    orders: Literal["both", "one"] = Field("both", description="Ask each pair in both orders, against position bias.")
    dialogues: int | None = Field(None, ge=1, description="Judge at most this many dialogues of each data set.")
    lines: int | None = Field(None, ge=1, description="Show at most this many lines before the first reply compared.")
    max_tokens: int = Field(400, ge=1)
    timeout: float = Field(60.0, gt=0)
    price: Price | None = None


class Budget(_Part):
    """Where an experiment stops asking; what it has by then is kept and reported."""

    calls: int | None = Field(None, ge=0, description="Model calls, of all runs of this experiment together.")
    dollars: float | None = Field(None, ge=0, description="Known cost, of all runs together.")
    minutes: float | None = Field(None, gt=0, description="Of one run.")


class Experiment(_Part):
    """The values of an experiment file. Paths are relative to the folder it lies in."""

    name: str = Field(min_length=1, max_length=200)
    datasets: tuple[Dataset, ...] = Field(min_length=1)
    systems: tuple[System, ...] = Field(min_length=1)
    metrics: tuple[str, ...] = Field(("bleu", "rouge-l", "exact-match", "distinct-2", "length"))
    judge: Judge | None = None
    seeds: tuple[int, ...] = Field((0,), min_length=1)
    budget: Budget = Budget()
    prices: dict[str, Price] = Field(
        default_factory=dict, description="By model, for systems and judges without a price of their own."
    )
    concurrency: int = Field(4, ge=1, le=256, description="Replies asked for at the same time.")

    @model_validator(mode="after")
    def _names(self) -> Experiment:
        for what, names in (("data sets", self.datasets), ("systems", self.systems)):
            called = [part.name for part in names]
            if len(set(called)) < len(called):
                raise ValueError(f"two {what} have one name")
        used = {system.model for system in self.systems} | set(self.judge.models if self.judge else ())
        if unused := sorted(set(self.prices) - used):
            raise ValueError(f"prices names a model that nobody asks: {unused[0]}")
        if self.judge and self.judge.against not in {system.name for system in self.systems}:
            raise ValueError(f"judge.against names no system: {self.judge.against}")
        return self


def read_experiment(path: Path) -> Experiment:
    """The experiment in a YAML file.

    Raises `InvalidFile` that names the place, and `UnknownName` for a metric there is none of.
    """
    try:
        found = yaml.safe_load(read_text(path, limit=MAX_BYTES))
        experiment = Experiment.model_validate(found)
    except yaml.YAMLError as error:
        raise InvalidFile(path, f"not YAML ({error}).") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidFile(path, f"{first['msg']}.", place=place, hint="Its fields: docs/evaluation.md.") from error
    for metric in experiment.metrics:
        measure(metric)
    return experiment


def json_schema() -> dict[str, Any]:
    """The JSON Schema of an experiment file."""
    schema = Experiment.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Dialoom experiment", **schema}
