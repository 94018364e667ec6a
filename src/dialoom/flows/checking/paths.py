"""Where a conversation can get to: nodes nobody reaches, dead ends, loops without an exit."""

from __future__ import annotations

from collections.abc import Iterable

from dialoom.flows.application import Application
from dialoom.flows.checking.findings import Spot, Survey
from dialoom.flows.flow import Flow, Graph
from dialoom.flows.nodes import REPAIRS, RESERVED, STAY, PromptNode, SubflowNode

EXITS = frozenset(RESERVED) - {STAY}


def broken_paths(survey: Survey, app: Application | None) -> None:
    """Note nodes and sub-flows that are never reached, and nodes that lead nowhere."""
    del app
    _unused(survey)
    _recursion(survey)
    spots = {(spot.label, spot.name): spot for spot in survey.spots()}
    for label, graph in survey.flow.graphs():
        own = {name: spots[label, name] for name in graph.nodes}
        reached = _reached(graph, [graph.start])
        for name, spot in own.items():
            if name not in reached:
                message = f"No path from '{graph.start}' leads to '{name}'."
                survey.found("warning", "unreachable", spot.place, message, "Lead to it, or remove it.", spot)
            _dead_end(survey, survey.flow, spot)
        _loops(survey, graph, own)


def _edges(graph: Graph) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(node.targets())) for name, node in graph.nodes.items()}


def _reached(graph: Graph, begin: Iterable[str]) -> set[str]:
    edges, reached, ahead = _edges(graph), set[str](), [name for name in begin if name in graph.nodes]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += [target for target in edges[name] if target in graph.nodes]
    return reached


def _dead_end(survey: Survey, flow: Flow, spot: Spot) -> None:
    node = spot.node
    if not isinstance(node, PromptNode):
        return
    away = [target for target in node.successors if target != spot.name]
    if not away:
        message = f"'{spot.name}' is a dead end: nothing leads out of it."
        hint = "Give it a rule or a next node; `end` finishes the flow."
        survey.found("error", "dead end", spot.place, message, hint, spot)
        return
    if "model" not in flow.order(node) and not node.rules:
        message = f"'{spot.name}' has no rules, and without a model nothing else chooses the next node."
        survey.found("error", "dead end", spot.place, message, "Add rules, or a prompt.", spot)
    unconditional = [index for index, rule in enumerate(node.rules) if not rule.conditional]
    if unconditional and unconditional[0] < len(node.rules) - 1:
        place = (*spot.place, "rules", unconditional[0] + 1)
        message = "This rule is never reached: the one before it has no condition."
        survey.found("warning", "unreachable", place, message, "Put it last.", spot)


def _loops(survey: Survey, graph: Graph, own: dict[str, Spot]) -> None:
    edges = _edges(graph)
    back: dict[str, list[str]] = {name: [] for name in edges}
    ahead: list[str] = []
    for name, targets in edges.items():
        if any(target in EXITS for target in targets):
            ahead.append(name)
        for target in targets:
            if target in back:
                back[target].append(name)
    leaving: set[str] = set()
    while ahead:
        name = ahead.pop()
        if name not in leaving:
            leaving.add(name)
            ahead += back[name]
    stuck = [name for name in edges if name not in leaving and edges[name] and all(t in edges for t in edges[name])]
    silent = _silent(stuck, edges, own)
    if silent:
        listed = " -> ".join(silent)
        message = f"A loop in which no node listens: {listed}. The turn would never end."
        survey.found("error", "loop", own[silent[0]].place, message, "Let one of them lead elsewhere.", own[silent[0]])
    rest = [name for name in stuck if name not in silent]
    if rest:
        shown = ", ".join(rest[:6]) + (f" and {len(rest) - 6} more" if len(rest) > 6 else "")
        message = f"A loop without an exit: from {shown} no path leads to an end."
        hint = f"Lead one of them to one of {', '.join(sorted(EXITS))}."
        survey.found("warning", "loop", own[rest[0]].place, message, hint, own[rest[0]])


def _silent(stuck: list[str], edges: dict[str, list[str]], own: dict[str, Spot]) -> list[str]:
    """Nodes that lead only to each other and never listen."""
    quiet = {name for name in stuck if not isinstance(own[name].node, PromptNode | SubflowNode)}
    while True:
        kept = {name for name in quiet if all(target in quiet for target in edges[name])}
        if kept == quiet:
            return sorted(kept)
        quiet = kept


def _unused(survey: Survey) -> None:
    flow = survey.flow
    used = {spot.node.subflow for spot in survey.spots() if isinstance(spot.node, SubflowNode)}
    for spot in survey.spots():
        if isinstance(spot.node, PromptNode):
            used |= {target for target in spot.node.repair.values() if target}
    for _, graph in flow.graphs():
        used |= {target for target in graph.repair.values() if target}
    for label, graph in flow.flows.items():
        if label not in used and not graph.triggers and label not in REPAIRS:
            message = f"Nothing starts the sub-flow '{label}'."
            hint = "Call it from a subflow node, give it a trigger, or remove it."
            survey.found("warning", "unreachable", survey.prefix(label), message, hint)


def _recursion(survey: Survey) -> None:
    """Sub-flows whose very first nodes call each other without listening."""
    calls: dict[str, str] = {}
    for label, graph in survey.flow.graphs():
        node = graph.nodes.get(graph.start)
        if isinstance(node, SubflowNode):
            calls[label] = node.subflow
    for label in calls:
        path = [label]
        while path[-1] in calls and calls[path[-1]] not in path:
            path.append(calls[path[-1]])
        if calls.get(path[-1]) == label:
            place = (*survey.prefix(label), "start")
            message = f"'{label}' calls itself at once: {' -> '.join([*path, label])}."
            survey.found("error", "loop", place, message, "Listen to the user in between.")
