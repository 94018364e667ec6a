"""YAML as plain data with the line of every key, limits on size and depth, and no code."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from dialoom.errors import InvalidFile

MAX_DEPTH = 40
MAX_VALUES = 500_000

Place = tuple[str | int, ...]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without surprises: only true/false are booleans, 12:30 and 2026-11-21 are texts, no keys twice."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|false)$", "tf"),
    ("null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?$", "-+0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


@dataclass(frozen=True)
class Source:
    """Where a flow came from: its path, and the line (1-based) of each key path."""

    path: str
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """The line of a key path, or of the nearest part of it that the file has."""
        for end in range(len(place), 0, -1):
            if place[:end] in self.lines:
                return self.lines[place[:end]]
        return 1


class _Tree:
    """A YAML node tree as plain data, with the line of every value."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: dict[Place, int] = {}
        self.loader = _Loader("")

    def value(self, node: yaml.Node, place: Place) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(place, line)
        if len(place) > MAX_DEPTH or len(self.lines) > MAX_VALUES:
            raise InvalidFile(self.path, "nested too deeply or expands to too many values.", place=f"line {line}")
        if node.tag not in _TAGS:
            problem = f"the tag '{node.tag}' is not allowed; a flow is plain data."
            raise InvalidFile(self.path, problem, place=f"line {line}")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*place, index)) for index, item in enumerate(node.value)]
        return self.loader.construct_object(node)

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self.loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, Hashable) or key is None or isinstance(key, float):
                raise InvalidFile(self.path, "a key must be a plain word.", place=f"line {line}")
            name = key if isinstance(key, str) else json.dumps(key)
            if name in result:
                raise InvalidFile(self.path, f"'{name}' is given twice.", place=f"line {line}", hint="Keep one.")
            self.lines[(*place, name)] = line
            result[name] = self.value(value_node, (*place, name))
        return result


_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "bool", "null", "int", "float", "map", "seq"))


def parse_yaml(text: str, path: str) -> tuple[Any, Source]:
    """Plain data and where each piece of it stands. Raises `InvalidFile`."""
    try:
        tree = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidFile(path, f"not YAML: {error.problem}.", place=line) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidFile(path, f"not YAML: {error}.") from error
    if tree is None:
        raise InvalidFile(path, "the file is empty.")
    walker = _Tree(path)
    return walker.value(tree, ()), Source(path, walker.lines)
