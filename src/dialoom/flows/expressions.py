"""Templates and conditions of a flow: jinja2 in a sandbox. User text is only ever a value, never a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta
from jinja2.exceptions import SecurityError
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dialoom.errors import InvalidFlow, RunError

MAX_OUTPUT = 50_000
MAX_PRODUCT = 100_000

_SINGLE = re.compile(r"^\s*\{\{((?:(?!\}\}|\{\{).)*)\}\}\s*$", re.DOTALL)


class TemplateFailed(RunError):
    """A template or condition that could not be evaluated in this turn."""


class _Sandbox(ImmutableSandboxedEnvironment):
    """Refuses, besides what jinja refuses, products that would fill the memory."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and not (_small(left, 1_000_000) and _small(right, 64)):
            raise SecurityError("a power this large is refused")
        if operator == "*" and (hasattr(left, "__len__") or hasattr(right, "__len__")):
            size, times = (left, right) if hasattr(left, "__len__") else (right, left)
            if not _small(times, MAX_PRODUCT) or len(size) * times > MAX_PRODUCT:
                raise SecurityError("a repetition this long is refused")
        return super().call_binop(context, operator, left, right)


def _small(value: object, limit: int) -> bool:
    return isinstance(value, int | float) and abs(value) <= limit


class _Loose(Undefined):
    """In conditions an unset name is simply not there."""


_strict = _Sandbox(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_loose = _Sandbox(undefined=_Loose)


@lru_cache(maxsize=8192)
def _template(source: str) -> Template:
    return _strict.from_string(source)


@lru_cache(maxsize=8192)
def _expression(source: str) -> Callable[..., Any]:
    return _loose.compile_expression(source)


@lru_cache(maxsize=8192)
def template_names(source: str) -> frozenset[str]:
    """The names a template reads. Raises `InvalidFlow` for a template that does not parse."""
    try:
        return frozenset(meta.find_undeclared_variables(_strict.parse(source)))
    except TemplateSyntaxError as error:
        raise InvalidFlow(f"The template does not parse: {error.message}.", hint="See the jinja2 syntax.") from error


@lru_cache(maxsize=8192)
def condition_names(source: str) -> frozenset[str]:
    """The names a condition reads. Raises `InvalidFlow` for one that does not parse."""
    return template_names("{{ (" + source + ") }}")


def render(source: str, values: Mapping[str, Any]) -> str:
    """The template filled in, without blank edges. Raises `TemplateFailed`."""
    if "{" not in source:
        return source.strip()
    try:
        text = _template(source).render(values)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise TemplateFailed(f"The template '{_short(source)}' failed: {error}.") from error
    if len(text) > MAX_OUTPUT:
        raise TemplateFailed(f"The template '{_short(source)}' gave {len(text)} characters; at most {MAX_OUTPUT}.")
    return text.strip()


def evaluate(source: str, values: Mapping[str, Any]) -> Any:
    """The value of a condition or expression; an unset name is None. Raises `TemplateFailed`."""
    try:
        result = _expression(source)(**values)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise TemplateFailed(f"The expression '{_short(source)}' failed: {error}.") from error
    return None if isinstance(result, Undefined) else result


def single_expression(source: str) -> str | None:
    """The expression of a text that is exactly one `{{ expression }}`, else None."""
    match = _SINGLE.match(source)
    return match.group(1).strip() if match else None


def fill(value: Any, values: Mapping[str, Any]) -> Any:
    """A value of a `set` or `with` block: `{{ expression }}` keeps its type, other texts are templates, the rest is
    taken literally, inside lists and mappings too. Raises `TemplateFailed`.
    """
    if isinstance(value, str):
        expression = single_expression(value)
        return evaluate(expression, values) if expression is not None else render(value, values)
    if isinstance(value, list):
        return [fill(item, values) for item in value]
    if isinstance(value, Mapping):
        return {key: fill(item, values) for key, item in value.items()}
    return value


def value_names(value: Any) -> frozenset[str]:
    """The names that `fill` would read. Raises `InvalidFlow` for what does not parse."""
    if isinstance(value, str):
        return template_names(value)
    if isinstance(value, list):
        return frozenset().union(*(value_names(item) for item in value))
    if isinstance(value, Mapping):
        return frozenset().union(*(value_names(item) for item in value.values()))
    return frozenset()


def _short(source: str) -> str:
    text = " ".join(source.split())
    return text if len(text) <= 60 else text[:57] + "..."
