"""What changed between two versions of a flow, for a reader: nodes, transitions, prompts, constraints, memory."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dialoom.flows.drawing.labels import arrows
from dialoom.flows.flow import Flow, Graph
from dialoom.flows.nodes import Node, node_kind
from dialoom.flows.slots import Strict

What = Literal["flow", "node", "transition", "text", "constraint", "slot", "intent", "setting"]

TEXTS = ("prompt", "ask", "say", "help")
ELSEWHERE = ("constraints", "rules", "next", "go", "if", "else", "on_cancel", *TEXTS)


@dataclass(frozen=True, slots=True)
class Change:
    """One change: what kind, where (`flow` or `flow.node`), and in words."""

    what: What
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def diff(old: Flow, new: Flow) -> list[Change]:
    """Every change from `old` to `new`; empty if they say the same."""
    before, after = dict(old.graphs()), dict(new.graphs())
    if old.flow != new.flow:
        before[new.flow] = before.pop(old.flow)
    changes = [Change("flow", new.flow, f"renamed from {old.flow}")] if old.flow != new.flow else []
    changes += [Change("flow", name, "sub-flow removed") for name in before if name not in after]
    changes += [Change("flow", name, "sub-flow added") for name in after if name not in before]
    changes += _named("intent", new.flow, old.intents, new.intents)
    for key in ("understand", "retries", "fallback", "language", "also", "beside", "handed_over", "too_late"):
        changes += _setting(new.flow, key, getattr(old, key), getattr(new, key))
    for name, graph in after.items():
        if name in before:
            changes += _graphs(name, before[name], graph)
    return changes


def _graphs(label: str, old: Graph, new: Graph) -> Iterator[Change]:
    for key in ("title", "start", "trigger", "repair"):
        yield from _setting(label, key, getattr(old, key), getattr(new, key))
    yield from _named("slot", label, old.slots, new.slots)
    yield from _constraints(label, old.constraints, new.constraints)
    renamed = _renamed(old, new)
    for name in old.nodes:
        if name not in new.nodes and name not in renamed:
            yield Change("node", f"{label}.{name}", "removed")
    for name, node in new.nodes.items():
        where = f"{label}.{name}"
        former = next((a for a, b in renamed.items() if b == name), name)
        if former != name:
            yield Change("node", where, f"renamed from {former}")
        if former in old.nodes:
            yield from _nodes(where, old.nodes[former], node)
        else:
            yield Change("node", where, f"added ({node_kind(node)})")
    yield from _transitions(label, old, new, renamed)


def _renamed(old: Graph, new: Graph) -> dict[str, str]:
    """Nodes that are gone, and the new ones that say exactly the same."""
    gone = [name for name in old.nodes if name not in new.nodes]
    fresh = [name for name in new.nodes if name not in old.nodes]
    pairs: dict[str, str] = {}
    for name in gone:
        twin = next(
            (other for other in fresh if new.nodes[other] == old.nodes[name] and other not in pairs.values()), None
        )
        if twin is not None:
            pairs[name] = twin
    return pairs


def _nodes(where: str, old: Node, new: Node) -> Iterator[Change]:
    if node_kind(old) != node_kind(new):
        yield Change("node", where, f"changed from {node_kind(old)} to {node_kind(new)}")
        return
    a, b = _dumped(old), _dumped(new)
    for key in TEXTS:
        if a.get(key) != b.get(key):
            yield Change("text", where, _text(key, a.get(key), b.get(key)))
    yield from _constraints(where, getattr(old, "constraints", ()), getattr(new, "constraints", ()))
    for key in dict.fromkeys([*a, *b]):
        if key not in ELSEWHERE:
            yield from _setting(where, key, a.get(key), b.get(key))


def _dumped(part: Strict) -> dict[str, Any]:
    return part.model_dump(by_alias=True, mode="json", exclude_defaults=True)


def _transitions(label: str, old: Graph, new: Graph, renamed: Mapping[str, str]) -> Iterator[Change]:
    before = {(renamed.get(a, a), renamed.get(b, b)): when for a, b, when in arrows(old)}
    after = {(a, b): when for a, b, when in arrows(new)}
    for (a, b), when in after.items():
        if (a, b) not in before:
            yield Change("transition", f"{label}.{a}", f"now leads to {b}" + (f" ({when})" if when else ""))
        elif before[a, b] != when:
            yield Change("transition", f"{label}.{a}", f"leads to {b} on '{when}', before on '{before[a, b]}'")
    for a, b in before:
        if (a, b) not in after and a in new.nodes:
            yield Change("transition", f"{label}.{a}", f"no longer leads to {b}")


def _constraints(where: str, old: Any, new: Any) -> Iterator[Change]:
    before, after = {item.label: item for item in old}, {item.label: item for item in new}
    yield from (Change("constraint", where, f"constraint removed: {name}") for name in before if name not in after)
    yield from (Change("constraint", where, f"constraint added: {name}") for name in after if name not in before)
    for name in after:
        if name in before and before[name] != after[name]:
            yield Change(
                "constraint", where, f"constraint changed: {name}: {_dumped(before[name])} -> {_dumped(after[name])}"
            )


def _named(what: What, where: str, old: Mapping[str, Strict], new: Mapping[str, Strict]) -> Iterator[Change]:
    yield from (Change(what, where, f"{what} removed: {name}") for name in old if name not in new)
    yield from (Change(what, where, f"{what} added: {name}") for name in new if name not in old)
    for name, part in new.items():
        if name in old and old[name] != part:
            a, b = _dumped(old[name]), _dumped(part)
            keys = [key for key in dict.fromkeys([*a, *b]) if a.get(key) != b.get(key)]
            told = "; ".join(f"{key} {a.get(key)!r} -> {b.get(key)!r}" for key in keys)
            yield Change(what, where, f"{what} changed: {name}: {told}")


def _setting(where: str, key: str, old: Any, new: Any) -> Iterator[Change]:
    if old != new:
        yield Change("setting", where, f"{key}: {_plain(old)} -> {_plain(new)}")


def _plain(value: Any) -> str:
    return repr(_dumped(value) if isinstance(value, Strict) else value)


def _text(key: str, old: Any, new: Any) -> str:
    before, after = _lines(old), _lines(new)
    marked = [line for line in difflib.ndiff(before, after) if line[:1] in "+-"]
    return f"{key} changed:\n" + "\n".join(f"    {line}" for line in marked)


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name}: {text}" for name, text in value.items()]
    return [str(item) for item in value] if isinstance(value, list) else str(value or "").splitlines()
