"""JSON Schema as a grammar of bounded JSON texts.

The grammar may be narrower than the schema (properties in declared order, bounded strings and arrays, nothing
undeclared) and, for keywords no context-free grammar can state, wider. Whoever uses it validates the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from dialoom.errors import UsageError
from dialoom.models.grammar.expression import Chars, Choice, Concat, Expression, Grammar, Literal, Reference, Repeat
from dialoom.models.grammar.regex import from_regex

MAX_STRING = 120
"""Characters of a string whose schema sets no `maxLength`: an unbounded one lets a small model ramble to the end."""
MAX_ITEMS = 16
"""Items of an array whose schema sets no `maxItems`."""

_HEX = Chars(((48, 57), (65, 70), (97, 102)))
_DIGIT = Chars(((48, 57),))
_PLAIN = Chars(((0, 31), (34, 34), (92, 92), (127, 127)), negated=True)
_LETTER = Chars(tuple((ord(letter), ord(letter)) for letter in '"\\/bfnrt'))
_ESCAPED = Concat((Literal("\\"), Choice((_LETTER, Concat((Literal("u"), Repeat(_HEX, 4, 4)))))))
_CHARACTER = Choice((_PLAIN, _ESCAPED))
_WHOLE = Choice((Literal("0"), Concat((Chars(((49, 57),)), Repeat(_DIGIT, 0, 14)))))


def from_json_schema(schema: object) -> Grammar:
    """JSON texts of `schema`, spaced as `json.dumps` does.

    Raises `UsageError` for anything that is not a valid JSON Schema object and for a place without a type.
    """
    if not isinstance(schema, Mapping):
        raise UsageError(f"A JSON schema must be an object, not {type(schema).__name__}.")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path) or "the top"
        raise UsageError(f"The JSON schema is invalid at {place}: {error.message}.") from error
    compiler = _Compiler(schema)
    compiler.rules["schema"] = compiler.value(schema, "#")
    return Grammar(compiler.rules, "schema").checked()


class _Compiler:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.rules: dict[str, Expression] = {}

    def value(self, schema: Any, place: str) -> Expression:
        if not isinstance(schema, Mapping):
            raise UsageError(f"The JSON schema says '{json.dumps(schema)}' at {place}; a typed schema is needed there.")
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        if "const" in schema:
            return _fixed([schema["const"]])
        if "enum" in schema:
            return _fixed(schema["enum"])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                options = [self.value(option, f"{place}/{several}/{i}") for i, option in enumerate(schema[several])]
                return Choice(tuple(options))
        if len(schema.get("allOf", ())) == 1:
            return self.value(schema["allOf"][0], f"{place}/allOf/0")
        return self._typed(schema, place)

    def _typed(self, schema: Mapping[str, Any], place: str) -> Expression:
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list):
            return Choice(tuple(self._typed({**schema, "type": one}, place) for one in kind))
        match kind:
            case "object":
                return self._object(schema, place)
            case "array":
                return self._array(schema, place)
            case "string":
                return _string(schema)
            case "integer" | "number":
                return _number(schema, whole=kind == "integer")
            case "boolean":
                return Choice((Literal("true"), Literal("false")))
            case "null":
                return Literal("null")
            case _:
                raise UsageError(f"The JSON schema has no type at {place}.", hint="Give it a type, an enum or a $ref.")

    def _reference(self, reference: str) -> Expression:
        name = f"ref {reference}"
        if name not in self.rules:
            self.rules[name] = Literal("")
            self.rules[name] = self.value(self._resolved(reference), reference)
        return Reference(name)

    def _resolved(self, reference: str) -> Any:
        node: Any = self.root
        path = reference.removeprefix("#").strip("/")
        for part in path.split("/") if path else ():
            key = part.replace("~1", "/").replace("~0", "~")
            if not reference.startswith("#") or not isinstance(node, Mapping) or key not in node:
                raise UsageError(f"The JSON schema refers to '{reference}', which it does not hold.")
            node = node[key]
        return node

    def _array(self, schema: Mapping[str, Any], place: str) -> Expression:
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(MAX_ITEMS, least)))
        if most == 0:
            return Literal("[]")
        item = self.value(schema.get("items"), f"{place}/items")
        more = Repeat(Concat((Literal(", "), item)), max(least - 1, 0), most - 1)
        filled = Concat((Literal("["), item, more, Literal("]")))
        return filled if least else Choice((Literal("[]"), filled))

    def _object(self, schema: Mapping[str, Any], place: str) -> Expression:
        properties = schema.get("properties", {})
        required = set(schema.get("required", ()))
        if unknown := sorted(required - set(properties)):
            raise UsageError(f"The JSON schema requires '{unknown[0]}' at {place} without describing it.")
        # Two rules for each place in the object: nothing written yet, or something, when a comma comes first.
        after: list[Expression] = [Literal("}"), Literal("}")]
        for number, (key, inner) in reversed(list(enumerate(properties.items()))):
            member = self.value(inner, f"{place}/properties/{key}")
            label = json.dumps(key, ensure_ascii=False)
            rules: list[Expression] = []
            for lead, otherwise in zip(("", ", "), after, strict=True):
                written = Concat((Literal(f"{lead}{label}: "), member, after[1]))
                name = f"{place} {number}{' more' if lead else ''}"
                self.rules[name] = written if key in required else Choice((written, otherwise))
                rules.append(Reference(name))
            after = rules
        return Concat((Literal("{"), after[0]))


def _fixed(values: Sequence[Any]) -> Expression:
    return Choice(tuple(Literal(json.dumps(value, ensure_ascii=False)) for value in values))


def _number(schema: Mapping[str, Any], *, whole: bool) -> Expression:
    lowest = schema.get("minimum", schema.get("exclusiveMinimum"))
    sign: Expression = Literal("") if lowest is not None and lowest >= 0 else Repeat(Literal("-"), 0, 1)
    if whole:
        return Concat((sign, _WHOLE))
    return Concat((sign, _WHOLE, Repeat(Concat((Literal("."), Repeat(_DIGIT, 1, 9))), 0, 1)))


def _string(schema: Mapping[str, Any]) -> Expression:
    quote = Literal('"')
    if "pattern" in schema:
        return Concat((quote, _quotable(_searched(schema["pattern"])), quote))
    least = int(schema.get("minLength", 0))
    most = int(schema.get("maxLength", max(MAX_STRING, least)))
    return Concat((quote, Repeat(_CHARACTER, least, most), quote))


def _searched(pattern: str) -> Expression:
    """A schema's pattern is searched for, not matched whole: text may surround an unanchored one."""
    around = Repeat(Chars((), negated=True), 0, 40)
    before = Literal("") if pattern.startswith("^") else around
    after = Literal("") if pattern.endswith("$") and not pattern.endswith("\\$") else around
    return Concat((before, from_regex(pattern), after))


def _quotable(expression: Expression) -> Expression:
    """The expression with what JSON cannot hold inside quotes escaped (literals) or left out (classes)."""
    match expression:
        case Literal(text):
            return Literal(json.dumps(text, ensure_ascii=False)[1:-1])
        case Chars(ranges, True):
            return Chars((*ranges, (0, 31), (34, 34), (92, 92)), negated=True)
        case Chars(ranges, False):
            return Chars(tuple(part for low, high in ranges for part in _without_quotes(low, high)))
        case Concat(parts):
            return Concat(tuple(_quotable(part) for part in parts))
        case Choice(options):
            return Choice(tuple(_quotable(option) for option in options))
        case Repeat(body, least, most):
            return Repeat(_quotable(body), least, most)
        case _:
            return expression


def _without_quotes(low: int, high: int) -> list[tuple[int, int]]:
    kept = [(32, 33), (35, 91), (93, 0x10FFFF)]
    return [(max(low, a), min(high, b)) for a, b in kept if max(low, a) <= min(high, b)]
