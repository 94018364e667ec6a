"""The nodes of a flow: each is what its first key says (prompt, ask, say, set, if, call, describe, answer, subflow)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, JsonValue, Tag, field_validator, model_validator

from dialoom.flows.constraints import Allow, Constraint
from dialoom.flows.slots import Slot, Strict

Understanding = Literal["recognisers", "model"]

END = "end"
CANCEL = "cancel"
RESTART = "restart"
HAND_OFF = "hand_off"
HAND_OVER = "hand_over"
CLOSE = "close"
STAY = "stay"
PLANNER = "planner"
"""In an `answer` node: the planner chooses the sources."""
RESERVED: Mapping[str, str] = {
    END: "this flow is done: return to where it was called, or resume what it interrupted",
    CANCEL: "in a repair: drop the interrupted flow",
    RESTART: "begin again: the interrupted flow in a repair, else this one",
    HAND_OFF: "start the repair hand_off",
    HAND_OVER: "a person takes over: the flow no longer answers",
    CLOSE: "the conversation is over",
    STAY: "remain at this node",
}

REPAIRS = (
    "digression",
    "correction",
    "cancellation",
    "clarification",
    "chitchat",
    "completion",
    "cannot_handle",
    "hand_off",
)


class Rule(Strict):
    """Where to go next; all conditions given must hold, and the first rule that holds decides."""

    go: str
    intent: str | list[str] | None = None
    """One of these was recognised in this message."""
    filled: list[str] | None = None
    missing: list[str] | None = None
    when: str | None = None
    """A condition on memory."""
    automaton: str | None = None
    """The state of the learned automaton that the agent reports."""

    @property
    def intents(self) -> tuple[str, ...]:
        """The intents, as a tuple."""
        return (self.intent,) if isinstance(self.intent, str) else tuple(self.intent or ())

    @property
    def conditional(self) -> bool:
        """Whether it asks anything at all; a rule that does not is the `otherwise` of its node."""
        return bool(self.intents or self.filled or self.missing or self.when or self.automaton)


class Fallback(Strict):
    """What happens when the node cannot be done: say so, and stay or go elsewhere."""

    say: str = ""
    go: str = STAY


class Base(Strict):
    """What every node may have."""

    description: str = ""

    def targets(self) -> Iterator[str]:
        """Where it may lead, reserved names included, in the order declared."""
        yield from ()


class PromptNode(Base):
    """Listens to the user: recognisers, the model, or both in the declared order."""

    prompt: str = ""
    """The template of the model's instructions."""
    ask: str | dict[str, str] = ""
    """What is asked without a model: one question, or one per slot that is still missing."""
    memory: list[str] = []
    """The slots that may be filled here, by recognisers or by the model; all others are out of its reach."""
    slots: dict[str, Slot] = {}
    """Slots of this node alone; they are forgotten when it is left."""
    understand: list[Understanding] | None = None
    """Who understands the user, in this order; by default recognisers and then, with a prompt, the model for what is
    left: slots still empty, words not yet understood. With the model first, recognisers check its values."""
    next: list[str] = []
    """Declared successors besides those of the rules."""
    rules: list[Rule] = []
    output: dict[str, JsonValue] | str = {}
    """Further output fields: JSON Schema properties, or the name of a registered pydantic model."""
    constraints: list[Constraint] = []
    retries: Annotated[int, Field(ge=0, le=10)] | None = None
    fallback: Fallback | None = None
    context: dict[str, str] = {}
    """Template names to registered functions that give their values."""
    help: str = ""
    """What is said when the user asks what is meant."""
    repair: dict[str, str | Literal[False]] = {}
    """Other sub-flows for the repairs, or false to switch one off."""
    max_tokens: Annotated[int, Field(ge=1)] = 256
    timeout: Annotated[float, Field(gt=0)] = 30.0

    @field_validator("understand")
    @classmethod
    def _once_each(cls, value: list[Understanding] | None) -> list[Understanding] | None:
        if value is not None and (not value or len(set(value)) != len(value)):
            raise ValueError("name recognisers, model, or both, each once")
        return value

    @model_validator(mode="after")
    def _coherent(self) -> PromptNode:
        if "model" in self.order and not self.prompt:
            raise ValueError("understand names the model, so the node needs a prompt")
        if self.order == ("recognisers",) and not self.ask:
            raise ValueError("without a model the node needs an ask, or it would have nothing to say")
        return self

    @property
    def order(self) -> tuple[Understanding, ...]:
        """Who understands the user, in this order."""
        if self.understand is not None:
            return tuple(self.understand)
        return ("recognisers", "model") if self.prompt else ("recognisers",)

    @property
    def writable(self) -> tuple[str, ...]:
        """The slots that may be filled here."""
        asked = list(self.ask) if isinstance(self.ask, dict) else []
        return tuple(dict.fromkeys([*self.memory, *self.slots, *asked]))

    @property
    def successors(self) -> tuple[str, ...]:
        """The nodes a model may choose: those declared and those of the rules."""
        moves = [item.allow.to for item in self.constraints if isinstance(item, Allow)]
        return tuple(dict.fromkeys([*self.next, *moves, *(rule.go for rule in self.rules if rule.go != STAY)]))

    def targets(self) -> Iterator[str]:
        """Where it may lead."""
        yield from self.successors
        if self.fallback and self.fallback.go != STAY:
            yield self.fallback.go


class SayNode(Base):
    """Says something and goes on. Of several texts, each visit says the next one."""

    say: str | list[str]
    go: str

    def targets(self) -> Iterator[str]:
        """Where it leads."""
        yield self.go


class SetNode(Base):
    """Changes memory and goes on; `null` empties a slot."""

    set: dict[str, JsonValue]
    go: str

    def targets(self) -> Iterator[str]:
        """Where it leads."""
        yield self.go


class Branch(Strict):
    """One case of an `if`."""

    when: str
    go: str


class IfNode(Base):
    """Goes where the first condition that holds says, else elsewhere."""

    cases: Annotated[list[Branch], Field(alias="if", min_length=1)]
    otherwise: Annotated[str, Field(alias="else")]

    def targets(self) -> Iterator[str]:
        """Where it may lead."""
        yield from (case.go for case in self.cases)
        yield self.otherwise


class Attempt(Base):
    """What the nodes that may fail have in common."""

    timeout: Annotated[float, Field(gt=0)] = 10.0
    go: str
    on_error: Fallback | None = None

    def targets(self) -> Iterator[str]:
        """Where it may lead."""
        yield self.go
        if self.on_error and self.on_error.go != STAY:
            yield self.on_error.go


class CallNode(Attempt):
    """Runs a registered function of the application; its result is an event and may fill slots."""

    call: str
    arguments: Annotated[dict[str, JsonValue], Field(alias="with")] = {}
    into: str | dict[str, str] = ""
    """The slot for the result, or slots for fields of the result."""
    retry: Annotated[int, Field(ge=0, le=10)] = 0
    """Further attempts after a failure."""
    key: str = ""
    """Template of the idempotency key; by default it names the session, the node and the arguments."""
    read_only: bool = False
    """It changes nothing outside the conversation, so a correction may still go back behind it and pass it again."""


class Telling(Attempt):
    """What the nodes that tell facts have in common."""

    timeout: Annotated[float, Field(gt=0)] = 30.0


class DescribeNode(Telling):
    """Says what a computation shows, and nothing else; the application's describer has the functions and rules."""

    describe: Annotated[str, Field(min_length=1)]
    """A computation in Lispress, which begins with a parenthesis, or the name of a registered function that returns
    one."""
    arguments: Annotated[dict[str, JsonValue], Field(alias="with")] = {}
    """Variables of the computation, or arguments of the function. A value is a value, never a piece of program."""

    @property
    def is_program(self) -> bool:
        """Whether `describe` is the computation itself."""
        return self.describe.startswith("(")


class AnswerNode(Telling):
    """Answers the user from knowledge sources: those it names, or those the planner chooses."""

    answer: Literal["planner"] | Annotated[list[str], Field(min_length=1)]
    """The sources in any order (those they depend on are added), or `planner`."""
    question: str = ""
    """Template of what is asked; by default the user's own words."""
    user: str = ""
    """Template of whose memory and profile may be read; by default the session's."""
    not_found: str = ""
    """Where to go when the sources hold no answer; by default on."""

    def targets(self) -> Iterator[str]:
        """Where it may lead."""
        yield from super().targets()
        if self.not_found:
            yield self.not_found


class SubflowNode(Base):
    """Calls a sub-flow and goes on when it returns."""

    subflow: str
    arguments: Annotated[dict[str, JsonValue], Field(alias="with")] = {}
    """Its slots to values."""
    into: dict[str, str] = {}
    """Our slots to its slots, on return."""
    go: str
    on_cancel: str = ""
    """Where to go when the user cancels the sub-flow; by default this flow is cancelled with it."""

    def targets(self) -> Iterator[str]:
        """Where it leads once the sub-flow has returned or was cancelled."""
        yield self.go
        if self.on_cancel:
            yield self.on_cancel


KEYS = ("prompt", "ask", "say", "set", "if", "call", "describe", "answer", "subflow")


def node_kind(value: Any) -> str | None:
    """Which node a piece of a flow file is, by its keys."""
    if isinstance(value, Mapping):
        kind = next((key for key in KEYS if key in value), None)
        return "prompt" if kind == "ask" else kind
    kinds: dict[type, str] = {
        PromptNode: "prompt",
        SayNode: "say",
        SetNode: "set",
        IfNode: "if",
        CallNode: "call",
        DescribeNode: "describe",
        AnswerNode: "answer",
        SubflowNode: "subflow",
    }
    return kinds.get(type(value))


Node = Annotated[
    Annotated[PromptNode, Tag("prompt")]
    | Annotated[SayNode, Tag("say")]
    | Annotated[SetNode, Tag("set")]
    | Annotated[IfNode, Tag("if")]
    | Annotated[CallNode, Tag("call")]
    | Annotated[DescribeNode, Tag("describe")]
    | Annotated[AnswerNode, Tag("answer")]
    | Annotated[SubflowNode, Tag("subflow")],
    Discriminator(
        node_kind,
        custom_error_type="node_kind",
        custom_error_message=f"a node has one of the keys {', '.join(KEYS)}",
    ),
]
