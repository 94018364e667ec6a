"""Output schemas that no model could satisfy, and slots that nothing could fill."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from dialoom.errors import UsageError
from dialoom.flows.application import Application
from dialoom.flows.checking.findings import Spot, Survey
from dialoom.flows.consulting import ALSO, INTERRUPT, MEMORY, NEXT, UTTERANCE
from dialoom.flows.nodes import PromptNode
from dialoom.models.base import Constraint
from dialoom.models.constraints import compiled

TAKEN = (UTTERANCE, NEXT, MEMORY, INTERRUPT, ALSO)


def broken_schemas(survey: Survey, app: Application | None) -> None:
    """Note output fields that are no JSON Schema, that nothing satisfies, or that hide the fields every output has."""
    del app
    for spot in survey.spots():
        if not isinstance(spot.node, PromptNode):
            continue
        if isinstance(spot.node.output, dict):
            for name, schema in spot.node.output.items():
                _field(survey, spot, name, schema)
        if survey.flow.order(spot.node) == ("recognisers",):
            _unheard(survey, spot, spot.node)


def _field(survey: Survey, spot: Spot, name: str, schema: Any) -> None:
    place = (*spot.place, "output", name)
    if name in TAKEN:
        message = f"The output field '{name}' hides a field that every output has."
        survey.found("error", "schema", place, message, f"Choose another name than {', '.join(TAKEN)}.", spot)
        return
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        survey.found("error", "schema", place, f"'{name}' is not a JSON Schema: {error.message}.", "", spot)
        return
    problem = impossible(schema) or _refused(schema)
    if problem:
        message = f"No model can satisfy the schema of '{name}': {problem}."
        survey.found("error", "schema", place, message, "Widen it.", spot)


def _refused(schema: Any) -> str:
    """Why no model could be constrained to a schema."""
    try:
        compiled(Constraint("json_schema", schema))
    except UsageError as error:
        return error.message
    return ""


def impossible(schema: Any) -> str:
    """Why no value satisfies a schema, as far as can be told without search; empty if one may."""
    if schema is False:
        return "it refuses everything"
    if not isinstance(schema, dict):
        return ""
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        least, most = schema.get(low), schema.get(high)
        if least is not None and most is not None and least > most:
            return f"{low} {least} is above {high} {most}"
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices is not None:
        others = {key: value for key, value in schema.items() if key not in ("enum", "const")}
        if not choices or not any(Draft202012Validator(others).is_valid(choice) for choice in choices):
            return "none of its choices is allowed by the rest of it"
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in properties and schema.get("additionalProperties") is False:
            return f"it requires '{name}', which is not one of its properties"
        inner = impossible(properties.get(name, True))
        if inner:
            return f"'{name}': {inner}"
    if schema.get("minItems", 0) > 0 and impossible(schema.get("items", True)):
        return f"its items: {impossible(schema['items'])}"
    for key in ("anyOf", "oneOf"):
        if key in schema and all(impossible(option) for option in schema[key]):
            return f"every option of {key} is impossible"
    return next((problem for option in schema.get("allOf", ()) if (problem := impossible(option))), "")


def _unheard(survey: Survey, spot: Spot, node: PromptNode) -> None:
    declared = survey.slots(spot)
    asked = node.ask if isinstance(node.ask, dict) else {}
    for name in node.writable:
        slot = declared.get(name)
        if slot is not None and slot.recogniser is None and not (slot.items and slot.items.recogniser):
            place = (*spot.place, "ask", name) if name in asked else (*spot.place, "memory")
            message = f"The slot '{name}' has no recogniser, so without a model nothing can fill it here."
            hint = "Add `recognise:` to the slot, or a prompt to the node."
            survey.found("error" if name in asked else "warning", "unheard", place, message, hint, spot)
