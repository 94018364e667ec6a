"""Typed slots: what a conversation may remember, what values it takes, and how text is recognised as a value."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

SlotType = Literal["text", "number", "integer", "boolean", "choice", "date", "time", "datetime", "list", "object"]


class Strict(BaseModel):
    """A part of a flow file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def pattern_text(value: str) -> str:
    """A regular expression as written, once it compiles."""
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"'{value}' is not a regular expression: {error}") from error
    return value


class ByChoices(Strict):
    """Any of the slot's choices or their synonyms, with tolerance for misspelling."""

    by: Literal["choices"]
    tolerance: Annotated[float, Field(ge=50, le=100)] = 85
    """Least similarity, 100 for exact words only."""


class ByPattern(Strict):
    """What a regular expression finds."""

    by: Literal["pattern"]
    pattern: str
    group: int | str = 0

    _compiles = field_validator("pattern")(pattern_text)


class ByNumber(Strict):
    """A number in digits or in (English or the given) words."""

    by: Literal["number"]
    words: dict[str, float] = {}
    """Further number words."""


class ByDate(Strict):
    """A date, a time of day, or both, absolute or relative to now."""

    by: Literal["date", "time", "datetime"]
    prefer: Literal["future", "past"] = "future"


class ByYesNo(Strict):
    """Agreement or refusal."""

    by: Literal["yes_no"]
    yes: list[str] = []
    no: list[str] = []
    """Phrases that also mean so."""


class ByNames(Strict):
    """A name from a list, with tolerance for misspelling."""

    by: Literal["names"]
    names: list[str] = []
    source: str = ""
    """A slot that holds the list."""
    tolerance: Annotated[float, Field(ge=50, le=100)] = 85


class ByText(Strict):
    """The whole message, when this slot is the one asked for."""

    by: Literal["text"]


class ByFunction(Strict):
    """A recogniser of the application: text to value or None."""

    by: Literal["function"]
    function: str


Recogniser = Annotated[
    ByChoices | ByPattern | ByNumber | ByDate | ByYesNo | ByNames | ByText | ByFunction, Field(discriminator="by")
]
Shorthand = Literal["choices", "number", "date", "time", "datetime", "yes_no", "text"]


class Slot(Strict):
    """One thing to remember."""

    type: SlotType = "text"
    description: str = ""
    """What the model is told about it."""
    choices: dict[str, list[str]] | list[str] | None = None
    """The values of a choice, with synonyms where they have some."""
    items: Slot | None = None
    fields: dict[str, Slot] | None = None
    default: JsonValue = None
    min: float | None = None
    max: float | None = None
    pattern: str | None = None
    """The whole text must match."""
    recognise: Shorthand | Recogniser | None = None
    frozen: bool = False
    """Once filled it never changes."""
    append_only: bool = False
    """A list that only grows at its end."""
    keep: bool = False
    """Survives cancellation and restart."""
    secret: bool = False
    """Never written into events."""
    recheck: str = ""
    """The node to pass again once it has changed (by a correction, or in a sub-flow that interrupted), where something
    was looked up or computed from the old value."""
    refusal: str = ""
    """What the user is told about a value that is not allowed."""

    _compiles = field_validator("pattern")(lambda value: value if value is None else pattern_text(value))

    @model_validator(mode="after")
    def _coherent(self) -> Slot:
        if (self.type == "choice") != bool(self.choices):
            raise ValueError("a slot of type choice needs choices, and only such a slot has them")
        if self.recognise == "choices" and self.type != "choice":
            raise ValueError("recognise: choices needs a slot of type choice")
        if self.items is not None and self.type != "list":
            raise ValueError("only a slot of type list has items")
        if self.fields is not None and self.type != "object":
            raise ValueError("only a slot of type object has fields")
        if self.append_only and self.type != "list":
            raise ValueError("only a slot of type list can be append_only")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is above max {self.max:g}, so no value is allowed")
        if self.default is not None:
            checked(self, self.default)
        return self

    @property
    def recogniser(self) -> Recogniser | None:
        """How text becomes a value, spelled out."""
        match self.recognise:
            case None:
                return None
            case "choices":
                return ByChoices(by="choices")
            case "number":
                return ByNumber(by="number")
            case "date" | "time" | "datetime" as kind:
                return ByDate(by=kind)
            case "yes_no":
                return ByYesNo(by="yes_no")
            case "text":
                return ByText(by="text")
            case spelled:
                return spelled

    @property
    def values(self) -> tuple[str, ...]:
        """The values of a choice."""
        return tuple(self.choices or ())

    def synonyms(self) -> dict[str, list[str]]:
        """Each value of a choice with all the words for it."""
        if isinstance(self.choices, dict):
            return {value: [value, *words] for value, words in self.choices.items()}
        return {value: [value] for value in self.choices or ()}


def checked(slot: Slot, value: Any) -> Any:
    """`value` as this slot holds it (JSON types only). Raises `ValueError` that says what is allowed."""
    if value is None:
        return None
    match slot.type:
        case "text":
            return _text(slot, value)
        case "number" | "integer":
            return _number(slot, value)
        case "boolean":
            if not isinstance(value, bool):
                raise ValueError(f"{value!r} is neither true nor false")
            return value
        case "choice":
            return _choice(slot, value)
        case "date" | "time" | "datetime":
            return _moment(slot, value)
        case "list":
            if not isinstance(value, list | tuple):
                raise ValueError(f"{value!r} is not a list")
            return [checked(slot.items, item) if slot.items else item for item in value]
        case "object":
            return _object(slot, value)


def _text(slot: Slot, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    if slot.pattern is not None and not re.fullmatch(slot.pattern, value):
        raise ValueError(f"{'this value' if slot.secret else repr(value)} does not match {slot.pattern}")
    _within(slot, len(value), "characters")
    return value


def _number(slot: Slot, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError(f"{value!r} is not a number")
    if slot.type == "integer":
        if value != int(value):
            raise ValueError(f"{value!r} is not a whole number")
        value = int(value)
    _within(slot, value, "")
    return value


def _within(slot: Slot, value: float, unit: str) -> None:
    least, most = slot.min, slot.max
    if (least is not None and value < least) or (most is not None and value > most):
        span = f"{least if least is not None else 'any'} to {most if most is not None else 'any'}"
        raise ValueError(f"{value:g} is outside {span} {unit}".strip())


def _choice(slot: Slot, value: Any) -> str:
    for name in slot.values:
        if isinstance(value, str) and value.casefold() == name.casefold():
            return name
    raise ValueError(f"{value!r} is not one of {', '.join(slot.values)}")


def _moment(slot: Slot, value: Any) -> str:
    kind: type[date] | type[time] = {"date": date, "time": time, "datetime": datetime}[slot.type]
    if isinstance(value, kind) and (kind is not date or not isinstance(value, datetime)):
        return value.isoformat(timespec="minutes") if isinstance(value, time | datetime) else value.isoformat()
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a {slot.type}")
    try:
        return checked(slot, kind.fromisoformat(value))  # type: ignore[no-any-return]
    except ValueError as error:
        raise ValueError(f"{value!r} is not a {slot.type} in ISO form") from error


def _object(slot: Slot, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not an object")
    if slot.fields is None:
        return dict(value)
    foreign = sorted(set(value) - set(slot.fields))
    if foreign:
        raise ValueError(f"it has no field {foreign[0]!r}; fields: {', '.join(slot.fields)}")
    return {name: checked(part, value.get(name)) for name, part in slot.fields.items()}


def empty(value: Any) -> bool:
    """Whether a slot holds nothing: None, an empty text or list, an object all of whose fields are empty."""
    if isinstance(value, dict):
        return all(empty(item) for item in value.values())
    return value is None or value == "" or value == []


def partial(slot: Slot, value: Any) -> list[str]:
    """The empty fields of an object that is begun but not complete, or of the objects of a list."""
    if isinstance(value, list) and slot.items is not None:
        return list(dict.fromkeys(gap for item in value for gap in partial(slot.items, item)))
    if not isinstance(value, dict) or empty(value):
        return []
    return [name for name in (slot.fields or value) if empty(value.get(name))]


def json_schema(slot: Slot) -> dict[str, Any]:
    """The JSON Schema of this slot's values, null included, for a model's output."""
    schema: dict[str, Any]
    match slot.type:
        case "text":
            schema = {"type": "string", "maxLength": int(slot.max) if slot.max is not None else 300}
            if slot.pattern is not None:
                schema["pattern"] = f"^(?:{slot.pattern})$"
        case "number" | "integer":
            schema = {"type": slot.type}
            if slot.min is not None:
                schema["minimum"] = slot.min
            if slot.max is not None:
                schema["maximum"] = slot.max
        case "boolean":
            schema = {"type": "boolean"}
        case "choice":
            return _described(slot, {"enum": [*slot.values, None]})
        case "date" | "time" | "datetime":
            schema = {"type": "string", "maxLength": 40}
        case "list":
            schema = {"type": "array", "items": json_schema(slot.items or Slot()), "maxItems": 50}
        case "object":
            schema = {"type": "object"}
            if slot.fields is not None:
                schema["properties"] = {name: json_schema(part) for name, part in slot.fields.items()}
                schema["additionalProperties"] = False
    schema["type"] = [schema["type"], "null"]
    return _described(slot, schema)


def _described(slot: Slot, schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "description": slot.description} if slot.description else schema
