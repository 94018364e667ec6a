"""Constraints before and after a node has understood the user: declarations, and the judgement of a proposal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, JsonValue, Tag, field_validator, model_validator

from dialoom.errors import MissingExtra
from dialoom.flows.expressions import evaluate, render
from dialoom.flows.slots import Slot, Strict, empty, partial, pattern_text

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

At = Literal["entry", "exit", "always"]


class Declared(Strict):
    """What every constraint may say: its own message to the model and to the user, and its name in reports."""

    message: str = ""
    name: str = ""

    @property
    def kind(self) -> str:
        """The key that makes it this constraint."""
        return KIND_OF[type(self)]

    @property
    def label(self) -> str:
        """What reports and tests call it: its name, or its kind and what it is about."""
        if self.name:
            return self.name
        about = getattr(self, self.kind)
        return f"{self.kind} {', '.join(about)}" if isinstance(about, list) else f"{self.kind} {_subject(about)}"

    def slots(self) -> tuple[str, ...]:
        """The slots it names."""
        return ()


def _subject(about: Any) -> str:
    return str(getattr(about, "slot", None) or getattr(about, "to", None) or about)


class Required(Declared):
    """These slots are filled: when the node is left, or on entry."""

    required: list[str]
    at: Literal["entry", "exit"] = "exit"

    def slots(self) -> tuple[str, ...]:
        """The slots it names."""
        return tuple(self.required)


class Empty(Declared):
    """These slots are empty on entry; with `clear` they are emptied instead of refused."""

    empty: list[str]
    at: Literal["entry", "exit"] = "entry"
    clear: bool = False

    def slots(self) -> tuple[str, ...]:
        """The slots it names."""
        return tuple(self.empty)


class Frozen(Declared):
    """These slots do not change in this node."""

    frozen: list[str]

    def slots(self) -> tuple[str, ...]:
        """The slots it names."""
        return tuple(self.frozen)


class AppendOnly(Declared):
    """These lists only grow at their end in this node."""

    append_only: list[str]

    def slots(self) -> tuple[str, ...]:
        """The slots it names."""
        return tuple(self.append_only)


class Move(Strict):
    """A transition that needs a condition."""

    to: str
    when: str


class Allow(Declared):
    """The move to a node is allowed only when a condition on the slots holds."""

    allow: Move


class Turns(Declared):
    """At most so many user turns in one visit of the node."""

    turns: Annotated[int, Field(ge=1)]


class Span(Strict):
    """A slot and its bounds."""

    slot: str
    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> Span:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is above max {self.max:g}, so no value is allowed")
        return self


class Range(Declared):
    """A number, or the length of a text or list, lies within bounds where the slot is filled."""

    range: Span

    def slots(self) -> tuple[str, ...]:
        """The slot it names."""
        return (self.range.slot,)


class Shape(Strict):
    """A slot and a regular expression for its whole text."""

    slot: str
    matches: str

    _compiles = field_validator("matches")(pattern_text)


class Pattern(Declared):
    """A text matches where the slot is filled."""

    pattern: Shape

    def slots(self) -> tuple[str, ...]:
        """The slot it names."""
        return (self.pattern.slot,)


class Complete(Declared):
    """No partial item is left behind when the node is left: each object is empty or complete."""

    complete: list[str]

    def slots(self) -> tuple[str, ...]:
        """The slots it names."""
        return tuple(self.complete)


LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]


class Language(Declared):
    """The assistant's (or the user's) words are in one of these languages (ISO 639-1), as far as can be told: words
    that could be of many languages (mostly texts of one or two words) are let through, and the trace says so.
    """

    language: Annotated[list[LanguageCode], Field(min_length=1)]
    of: Literal["assistant", "user"] = "assistant"


class Length(Declared):
    """The assistant's utterance has at most so many characters."""

    length: Annotated[int, Field(ge=1)]


class Forbidden(Declared):
    """Phrases, or /regular expressions/, that must not be said."""

    forbidden: list[str]
    of: Literal["assistant", "user"] = "assistant"

    @field_validator("forbidden")
    @classmethod
    def _compile(cls, value: list[str]) -> list[str]:
        for phrase in value:
            phrase_pattern(phrase)
        return value


class Check(Declared):
    """A constraint of the application, by its registered name."""

    check: str
    arguments: Annotated[dict[str, JsonValue], Field(alias="with")] = {}
    at: Literal["entry", "exit", "always"] = "always"


KIND_OF: dict[type[Declared], str] = {
    Required: "required",
    Empty: "empty",
    Frozen: "frozen",
    AppendOnly: "append_only",
    Allow: "allow",
    Turns: "turns",
    Range: "range",
    Pattern: "pattern",
    Complete: "complete",
    Language: "language",
    Length: "length",
    Forbidden: "forbidden",
    Check: "check",
}


def kind_of(value: Any) -> str | None:
    """Which constraint a piece of a flow file is: the key that only it has."""
    if isinstance(value, Declared):
        return value.kind
    if isinstance(value, Mapping):
        return next((kind for kind in KIND_OF.values() if kind in value), None)
    return None


Constraint = Annotated[
    Annotated[Required, Tag("required")]
    | Annotated[Empty, Tag("empty")]
    | Annotated[Frozen, Tag("frozen")]
    | Annotated[AppendOnly, Tag("append_only")]
    | Annotated[Allow, Tag("allow")]
    | Annotated[Turns, Tag("turns")]
    | Annotated[Range, Tag("range")]
    | Annotated[Pattern, Tag("pattern")]
    | Annotated[Complete, Tag("complete")]
    | Annotated[Language, Tag("language")]
    | Annotated[Length, Tag("length")]
    | Annotated[Forbidden, Tag("forbidden")]
    | Annotated[Check, Tag("check")],
    Discriminator(
        kind_of,
        custom_error_type="constraint_kind",
        custom_error_message=f"a constraint has one of the keys {', '.join(KIND_OF.values())}",
    ),
]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a node would do: the memory before and after, what it would say, and where it would go.

    `utterance` is None where the node's own (authored) words are spoken. `leaving` says whether `target` is elsewhere.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    user: str
    utterance: str | None
    target: str
    leaving: bool
    declared: Mapping[str, Slot]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that does not hold, and why, in words a model or a user can act on."""

    label: str
    message: str


def judge(constraint: Declared, proposal: Proposal) -> Violation | None:
    """Whether the proposal violates a built-in constraint (`check` and `turns` are judged by the step)."""
    problem = _problem(constraint, proposal)
    if problem is None:
        return None
    message = render(constraint.message, {**proposal.values, **proposal.after}) if constraint.message else problem
    return Violation(constraint.label, message)


def _problem(constraint: Declared, proposal: Proposal) -> str | None:
    match constraint:
        case Required(at="exit") | Empty(at="exit") | Complete() | Allow():
            return _leaving_problem(constraint, proposal)
        case Frozen() | AppendOnly() | Range() | Pattern():
            return _memory_problem(constraint, proposal)
        case Language() | Length() | Forbidden():
            return _words_problem(constraint, proposal)
    return None


def _leaving_problem(constraint: Declared, proposal: Proposal) -> str | None:
    after = proposal.after
    match constraint:
        case Allow(allow=move) if move.to == proposal.target:
            if not evaluate(move.when, {**proposal.values, **after}):
                return f"The move to {move.to} is not possible yet."
        case Required() if proposal.leaving:
            missing = [name for name in constraint.required if empty(after.get(name))]
            return f"Still missing: {_listed(missing)}." if missing else None
        case Empty() if proposal.leaving:
            full = [name for name in constraint.empty if not empty(after.get(name))]
            return f"Must be empty: {_listed(full)}." if full else None
        case Complete() if proposal.leaving:
            for name in constraint.complete:
                slot = proposal.declared.get(name)
                gaps = partial(slot, after.get(name)) if slot else []
                if gaps:
                    return f"{name.capitalize()} is not complete: {_listed(gaps)} missing."
    return None


def _memory_problem(constraint: Declared, proposal: Proposal) -> str | None:
    before, after = proposal.before, proposal.after
    match constraint:
        case Frozen():
            changed = [name for name in constraint.frozen if before.get(name) != after.get(name)]
            return f"{_listed(changed)} must not change here." if changed else None
        case AppendOnly():
            for name in constraint.append_only:
                old, new = list(before.get(name) or []), list(after.get(name) or [])
                if new[: len(old)] != old:
                    return f"Nothing may be removed from or changed in {name}, only added."
        case Range(range=span) if not empty(after.get(span.slot)):
            value: Any = after[span.slot]
            size = value if isinstance(value, int | float) else len(value)
            if (span.min is not None and size < span.min) or (span.max is not None and size > span.max):
                low = "any" if span.min is None else f"{span.min:g}"
                high = "any" if span.max is None else f"{span.max:g}"
                return f"{span.slot} must be from {low} to {high}, not {size:g}."
        case Pattern(pattern=shape) if not empty(value := after.get(shape.slot)):
            if not re.fullmatch(shape.matches, str(value)):
                return f"{shape.slot} does not have the right form."
    return None


def _words_problem(constraint: Declared, proposal: Proposal) -> str | None:
    said = proposal.user if getattr(constraint, "of", "assistant") == "user" else proposal.utterance
    if not said:
        return None
    match constraint:
        case Length() if len(said) > constraint.length:
            return f"The utterance has {len(said)} characters; at most {constraint.length}."
        case Forbidden():
            found = next((phrase for phrase in constraint.forbidden if phrase_pattern(phrase).search(said)), None)
            return f"These words are not allowed: {found}." if found else None
        case Language():
            spoken, confidence = language_of(said)
            if spoken not in constraint.language and confidence >= SURE:
                return f"The words are in '{spoken}'; allowed: {', '.join(constraint.language)}."
    return None


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """A forbidden phrase, or a /regular expression/, as a pattern that ignores case."""
    if len(phrase) > 2 and phrase.startswith("/") and phrase.endswith("/"):
        return re.compile(pattern_text(phrase[1:-1]), re.IGNORECASE)
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE)


SURE = 0.5
"""Least probability at which a language counts as told."""


def undecided(constraint: Language, proposal: Proposal) -> str:
    """What is to be said where too little is known of the language of the words; empty where it can be told."""
    said = proposal.user if constraint.of == "user" else proposal.utterance
    if not said:
        return ""
    spoken, confidence = language_of(said)
    return "" if confidence >= SURE else f"The language cannot be told: '{spoken}' with {confidence:.2f}."


@lru_cache(maxsize=256)
def language_of(text: str) -> tuple[str, float]:
    """The likeliest language of a text (ISO 639-1) and its probability among all that py3langid knows, which is small
    for words that could be of many languages. Raises `MissingExtra` without py3langid.
    """
    language, probability = max(_identifier().rank(text), key=lambda entry: entry[1])
    return str(language), float(probability)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError as error:
        raise MissingExtra("The language constraint", "flows") from error
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _listed(names: list[str]) -> str:
    return ", ".join(names)
