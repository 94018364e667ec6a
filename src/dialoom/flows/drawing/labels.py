"""What a drawing says of nodes and transitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dialoom.flows.flow import Graph
from dialoom.flows.nodes import (
    STAY,
    AnswerNode,
    CallNode,
    DescribeNode,
    IfNode,
    Node,
    PromptNode,
    Rule,
    SayNode,
    SetNode,
    SubflowNode,
    node_kind,
)

WIDTH = 40


class Arrow(NamedTuple):
    """A transition to draw: from a node to a node or a reserved target, and when it is taken."""

    source: str
    target: str
    label: str


def kind(node: Node) -> str:
    """The kind of a node in one word."""
    return node_kind(node) or "node"


def text_of(node: Node) -> str:
    """What a node does, in a line."""
    match node:
        case PromptNode(ask=str(ask)) if ask:
            return short(ask)
        case PromptNode():
            return short(" / ".join(node.ask.values()) if isinstance(node.ask, dict) and node.ask else node.prompt)
        case SayNode():
            return short(node.say if isinstance(node.say, str) else " | ".join(node.say))
        case SetNode():
            return short("set " + ", ".join(node.set))
        case CallNode():
            return short(f"call {node.call}")
        case DescribeNode():
            return short(f"describe {node.describe}")
        case AnswerNode(answer=str(planner)):
            return short(f"answer: {planner}")
        case AnswerNode():
            return short(f"answer from {', '.join(node.answer)}")
        case SubflowNode():
            return short(f"flow {node.subflow}")
        case IfNode():
            return short(" | ".join(case.when for case in node.cases))


def arrows(graph: Graph) -> Iterator[Arrow]:
    """Every transition once, with the conditions that lead along it."""
    for name, node in graph.nodes.items():
        labels: dict[str, list[str]] = {target: [] for target in node.targets() if target != STAY}
        if isinstance(node, PromptNode):
            for rule in node.rules:
                labels.setdefault(rule.go, []).append(condition(rule))
            if node.fallback and node.fallback.go in labels and node.fallback.go not in node.successors:
                labels[node.fallback.go].append("fallback")
        elif isinstance(node, IfNode):
            for case in node.cases:
                labels[case.go].append(case.when)
            labels[node.otherwise].append("else")
        elif isinstance(node, CallNode | DescribeNode | AnswerNode):
            if node.on_error and node.on_error.go in labels and node.on_error.go != node.go:
                labels[node.on_error.go].append("error")
            if isinstance(node, AnswerNode) and node.not_found not in ("", node.go):
                labels[node.not_found].append("not found")
        elif isinstance(node, SubflowNode) and node.on_cancel not in ("", node.go):
            labels[node.on_cancel].append("cancelled")
        for target, told in labels.items():
            if target != STAY:
                yield Arrow(name, target, short(", ".join(filter(None, told))))


def condition(rule: Rule) -> str:
    """A rule's conditions in a few words."""
    parts = [*rule.intents]
    parts += [f"{' + '.join(rule.filled)} filled"] if rule.filled else []
    parts += [f"{' + '.join(rule.missing)} missing"] if rule.missing else []
    parts += [rule.when] if rule.when else []
    parts += [f"state {rule.automaton}"] if rule.automaton else []
    return " and ".join(parts) or "otherwise"


def short(text: str, width: int = WIDTH) -> str:
    """A text in one line of at most `width` characters; of templates what a reader would say aloud."""
    plain = re.sub(r"\{\{\s*(.*?)\s*\}\}", r"[\1]", re.sub(r"\{%.*?%\}", " ", text, flags=re.DOTALL), flags=re.DOTALL)
    line = " ".join(plain.split())
    return line if len(line) <= width else line[: width - 1] + "…"
