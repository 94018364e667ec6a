"""Names that nobody declared: targets, slots, intents, sub-flows, functions, template variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dialoom.errors import InvalidFlow
from dialoom.flows.application import Application
from dialoom.flows.checking.findings import Spot, Survey, written
from dialoom.flows.constraints import Allow, Check, Constraint
from dialoom.flows.expressions import condition_names, template_names, value_names
from dialoom.flows.flow import BUILT_IN, default_repairs
from dialoom.flows.nodes import (
    REPAIRS,
    RESERVED,
    AnswerNode,
    CallNode,
    DescribeNode,
    IfNode,
    PromptNode,
    SayNode,
    SetNode,
    SubflowNode,
)
from dialoom.flows.slots import ByFunction, ByNames, Slot
from dialoom.flows.source import Place

REPAIR_FACTS = frozenset({"title", "help", "misses", "why", "changes", "candidates", "subject", "words"})


def unknown_names(survey: Survey, app: Application | None) -> None:
    """Note every name that is used and not declared."""
    _graphs(survey)
    repairs = _repair_flows(survey)
    for spot in survey.spots():
        _targets(survey, spot)
        _slots(survey, spot)
        _intents(survey, spot)
        _templates(survey, spot, repairs)
        if isinstance(spot.node, SubflowNode):
            _subflow(survey, spot, spot.node)
        if app is not None:
            _functions(survey, spot, app)
    _never_set(survey)
    if app is not None:
        _recognisers(survey, app)


def _graphs(survey: Survey) -> None:
    flow = survey.flow
    started: dict[str, str] = {}
    for label, graph in flow.graphs():
        place = survey.prefix(label)
        if graph.start not in graph.nodes:
            survey.unknown("start node", graph.start, graph.nodes, (*place, "start"))
        for intent in graph.triggers:
            if intent not in flow.all_intents():
                survey.unknown("intent", intent, flow.all_intents(), (*place, "trigger"))
            elif intent in started:
                other = started[intent]
                message = f"The intent '{intent}' starts both '{other}' and '{label}'; the later one wins."
                survey.found("warning", "two triggers", (*place, "trigger"), message, "Give each its own intent.")
            started[intent] = label
        for name, slot in graph.slots.items():
            if slot.recheck and slot.recheck not in graph.nodes:
                survey.unknown("node", slot.recheck, graph.nodes, (*place, "slots", name, "recheck"))
        for repair, target in graph.repair.items():
            _repair(survey, repair, target or "", (*place, "repair", repair))
        if graph is flow and graph.triggers:
            survey.found("warning", "trigger", ("trigger",), "Only sub-flows are started by a trigger.", "Remove it.")
    for old, new in flow.moved.items():
        if new not in flow.nodes:
            survey.unknown("node", new, flow.nodes, ("moved", old))


def _repair(survey: Survey, repair: str, target: str, place: Place, spot: Spot | None = None) -> None:
    if repair not in REPAIRS:
        survey.unknown("repair", repair, REPAIRS, place, spot)
    valid = {*survey.flow.flows, *default_repairs().flows}
    if target and target not in valid:
        survey.unknown("sub-flow", target, valid, place, spot)


def _targets(survey: Survey, spot: Spot) -> None:
    for target in dict.fromkeys(spot.node.targets()):
        if target not in spot.graph.nodes and target not in RESERVED:
            place = _place_of_target(spot, target)
            survey.unknown("node", target, [*spot.graph.nodes, *RESERVED], place, spot)


def _place_of_target(spot: Spot, target: str) -> Place:
    node = spot.node
    if isinstance(node, PromptNode):
        for index, rule in enumerate(node.rules):
            if rule.go == target:
                return (*spot.place, "rules", index, "go")
        if target in node.next:
            return (*spot.place, "next", node.next.index(target))
    if isinstance(node, IfNode):
        for index, case in enumerate(node.cases):
            if case.go == target:
                return (*spot.place, "if", index, "go")
        return (*spot.place, "else")
    return (*spot.place, "go")


def _slots(survey: Survey, spot: Spot) -> None:
    declared = survey.slots(spot)
    for name, place in _named_slots(spot):
        if name not in declared:
            survey.unknown("slot", name, declared, (*spot.place, *place), spot)


def _named_slots(spot: Spot) -> Iterator[tuple[str, Place]]:
    node = spot.node
    if isinstance(node, PromptNode):
        yield from ((name, ("memory", index)) for index, name in enumerate(node.memory))
        if isinstance(node.ask, dict):
            yield from ((name, ("ask", name)) for name in node.ask)
        for index, rule in enumerate(node.rules):
            yield from ((name, ("rules", index)) for name in (*(rule.filled or ()), *(rule.missing or ())))
        for index, constraint in enumerate(node.constraints):
            yield from ((name, ("constraints", index)) for name in constraint.slots())
    elif isinstance(node, SetNode):
        yield from ((name, ("set", name)) for name in node.set)
    elif isinstance(node, CallNode | SubflowNode):
        yield from ((name, ("into",)) for name in written(node))


def _intents(survey: Survey, spot: Spot) -> None:
    if not isinstance(spot.node, PromptNode):
        return
    known = survey.flow.all_intents()
    for index, rule in enumerate(spot.node.rules):
        for intent in rule.intents:
            if intent not in known:
                survey.unknown("intent", intent, known, (*spot.place, "rules", index), spot)
    for repair, target in spot.node.repair.items():
        _repair(survey, repair, target or "", (*spot.place, "repair", repair), spot)


def _subflow(survey: Survey, spot: Spot, node: SubflowNode) -> None:
    target = survey.flow.flows.get(node.subflow)
    if target is None:
        survey.unknown("sub-flow", node.subflow, survey.flow.flows, (*spot.place, "subflow"), spot)
        return
    inner = {**survey.flow.slots, **target.slots}
    for name in (*node.arguments, *node.into.values()):
        if name not in inner:
            survey.unknown(f"slot of '{node.subflow}'", name, inner, spot.place, spot)


def _functions(survey: Survey, spot: Spot, app: Application) -> None:
    node = spot.node
    if isinstance(node, CallNode) and node.call not in app.functions:
        survey.unknown("function", node.call, app.functions, (*spot.place, "call"), spot)
    if isinstance(node, PromptNode):
        for name, function in node.context.items():
            if function not in app.functions:
                survey.unknown("function", function, app.functions, (*spot.place, "context", name), spot)
        if isinstance(node.output, str) and node.output not in app.outputs:
            survey.unknown("output model", node.output, app.outputs, (*spot.place, "output"), spot)
        for index, constraint in enumerate((*node.constraints, *spot.graph.constraints)):
            if isinstance(constraint, Check) and constraint.check not in app.constraints:
                survey.unknown(
                    "constraint", constraint.check, app.constraints, (*spot.place, "constraints", index), spot
                )


def _recognisers(survey: Survey, app: Application) -> None:
    for label, graph in survey.flow.graphs():
        for name, slot in graph.slots.items():
            by = slot.recogniser
            if isinstance(by, ByFunction) and by.function not in app.recognisers:
                survey.unknown("recogniser", by.function, app.recognisers, (*survey.prefix(label), "slots", name))


def _templates(survey: Survey, spot: Spot, repairs: set[str]) -> None:
    allowed = {*survey.slots(spot), *BUILT_IN}
    if isinstance(spot.node, PromptNode):
        allowed |= set(spot.node.context)
    if spot.label in repairs:
        allowed |= REPAIR_FACTS
    for place, read in _read(survey, spot):
        for name in sorted(read - allowed):
            survey.unknown("variable", name, allowed, (*spot.place, *place), spot)


def _repair_flows(survey: Survey) -> set[str]:
    flow = survey.flow
    named = {target for _, graph in flow.graphs() for target in graph.repair.values() if target}
    for spot in survey.spots():
        if isinstance(spot.node, PromptNode):
            named |= {target for target in spot.node.repair.values() if target}
    return named | set(REPAIRS)


def _read(survey: Survey, spot: Spot) -> Iterator[tuple[Place, frozenset[str]]]:
    """The names that the node's templates and conditions read; one that does not parse is noted."""
    for place, source, names in _sources(spot):
        try:
            yield place, names(source)  # type: ignore[operator]
        except InvalidFlow as error:
            survey.found("error", "template", (*spot.place, *place), error.message, error.hint, spot)


def _sources(spot: Spot) -> Iterator[tuple[Place, object, object]]:
    node = spot.node
    match node:
        case PromptNode():
            yield ("prompt",), node.prompt, template_names
            asks = {"": node.ask} if isinstance(node.ask, str) else node.ask
            yield from (((("ask", slot) if slot else ("ask",)), text, template_names) for slot, text in asks.items())
            yield ("help",), node.help, template_names
            if node.fallback:
                yield ("fallback", "say"), node.fallback.say, template_names
            for index, rule in enumerate(node.rules):
                if rule.when:
                    yield ("rules", index, "when"), rule.when, condition_names
            yield from _constraint_sources(node.constraints)
        case SayNode():
            for text in [node.say] if isinstance(node.say, str) else node.say:
                yield ("say",), text, template_names
        case SetNode():
            yield from ((("set", name), value, value_names) for name, value in node.set.items())
        case IfNode():
            yield from ((("if", index, "when"), case.when, condition_names) for index, case in enumerate(node.cases))
        case CallNode():
            yield ("with",), dict(node.arguments), value_names
            yield ("key",), node.key, template_names
            if node.on_error:
                yield ("on_error", "say"), node.on_error.say, template_names
        case DescribeNode():
            yield ("with",), dict(node.arguments), value_names
            if node.on_error:
                yield ("on_error", "say"), node.on_error.say, template_names
        case AnswerNode():
            yield ("question",), node.question, template_names
            yield ("user",), node.user, template_names
            if node.on_error:
                yield ("on_error", "say"), node.on_error.say, template_names
        case SubflowNode():
            yield ("with",), dict(node.arguments), value_names


def _constraint_sources(constraints: Iterable[Constraint]) -> Iterator[tuple[Place, object, object]]:
    for index, constraint in enumerate(constraints):
        yield ("constraints", index, "message"), constraint.message, template_names
        if isinstance(constraint, Allow):
            yield ("constraints", index, "allow", "when"), constraint.allow.when, condition_names
        if isinstance(constraint, Check):
            yield ("constraints", index, "with"), dict(constraint.arguments), value_names


def _never_set(survey: Survey) -> None:
    """Slots that are read somewhere and never filled by anything."""
    changed: set[tuple[str, str]] = set()
    read: set[tuple[str, str]] = set()
    main = survey.flow.flow
    for spot in survey.spots():
        local = spot.node.slots if isinstance(spot.node, PromptNode) else {}
        for names, into in ((written(spot.node), changed), (_all_read(spot), read)):
            for name in names:
                if name not in local:
                    into.add((spot.label if name in spot.graph.slots else main, name))
        if isinstance(spot.node, SubflowNode):
            changed |= {(spot.node.subflow, name) for name in spot.node.arguments}
    for label, graph in survey.flow.graphs():
        for name, slot in graph.slots.items():
            if (label, name) in read and (label, name) not in changed and _unset(slot) and label not in REPAIRS:
                message = f"The slot '{name}' is read, and nothing ever fills it."
                hint = "Fill it in a node (memory, set, into), or give it a default."
                survey.found("warning", "never set", (*survey.prefix(label), "slots", name), message, hint)


def _unset(slot: Slot) -> bool:
    return slot.default is None and not isinstance(slot.recogniser, ByNames)


def _all_read(spot: Spot) -> set[str]:
    names: set[str] = set()
    for _, source, parse in _sources(spot):
        try:
            names |= parse(source)  # type: ignore[operator]
        except InvalidFlow:
            continue
    return names
