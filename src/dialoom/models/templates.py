"""Prompt templates: sandboxed jinja whose sections are messages.

A template is text with section lines such as `=== system ===`. Sections are cut before anything is filled in, so no
text of a transcript can open one. Templates come from the package, and from a folder that overrides it by file name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, UnknownName
from dialoom.files import read_text
from dialoom.models.base import Message

MAX_BYTES = 64 * 1024

_SECTION = re.compile(r"^=== (system|user|assistant) ===[ \t]*$\n?", re.MULTILINE)


def template_names(package: str, folder: Path | None = None) -> tuple[str, ...]:
    """Names of the templates of `package` and of the user's `folder`, sorted."""
    shipped = {file.name for file in (files(package) / "templates").iterdir()}
    own = {file.name for file in folder.glob("*.j2")} if folder is not None else set()
    return tuple(sorted(name.removesuffix(".j2") for name in shipped | own if name.endswith(".j2")))


def template_source(package: str, name: str, folder: Path | None = None) -> str:
    """The text of a template, the user's own first. Raises `UnknownName` with the names there are."""
    if name not in template_names(package, folder):
        raise UnknownName("prompt template", name, template_names(package, folder))
    if folder is not None and (folder / f"{name}.j2").is_file():
        return read_text(folder / f"{name}.j2", limit=MAX_BYTES)
    return (files(package) / "templates" / f"{name}.j2").read_text(encoding="utf-8")


def rendered(source: str, values: Mapping[str, Any], name: str = "template") -> tuple[Message, ...]:
    """The messages of a template filled with `values`; sections that come out empty are left out.

    Raises `InvalidFile` naming the line for a template that cannot be read, uses a value it is not given, or reaches
    for what the sandbox forbids.
    """
    import jinja2

    messages = []
    for role, text, before in _sections(source, name):
        try:
            content = _environment().from_string(text).render(values).strip()
        except jinja2.TemplateSyntaxError as error:
            raise InvalidFile(name, f"{error.message}.", place=f"line {before + error.lineno}") from error
        except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise InvalidFile(name, f"{error}.", hint=f"It is given: {', '.join(sorted(values))}.") from error
        if content:
            messages.append(Message(role, content))
    if not messages:
        raise InvalidFile(name, "the template gives no text.")
    return tuple(messages)


def _sections(source: str, name: str) -> list[tuple[Any, str, int]]:
    marks = list(_SECTION.finditer(source))
    if not marks:
        return [("user", source, 0)]
    if source[: marks[0].start()].strip():
        raise InvalidFile(name, "text before the first section.", place="line 1", hint="Start with === system ===.")
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    return [
        (mark[1], source[mark.end() : end], source.count("\n", 0, mark.end()))
        for mark, end in zip(marks, ends, strict=True)
    ]


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Prompts are plain text, not HTML: escaping would change what the model reads.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def one_line(text: str, fences: tuple[str, ...]) -> str:
    """A transcript's text as one line that cannot leave its place in a prompt.

    Line breaks and control characters become spaces, and a tag named in `fences` loses its opening bracket, so that
    no text can start a line of its own or close the fence around it.
    """
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    named = "|".join(map(re.escape, fences))
    return re.sub(rf"<(?=\s*/?\s*(?:{named})\b)", "(", flat, flags=re.IGNORECASE)
