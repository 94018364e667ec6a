"""What may truthfully be said about a computation on a table."""

from __future__ import annotations

from typing import Any

from dialoom.dataflow import Call, Computation, Constant, Failure, Graph
from dialoom.domains.table.functions import Database, Row
from dialoom.generation import Rules

Found = dict[str, Any] | None
table_rules = Rules()
rule = table_rules.rule


def database_of(graph: Graph) -> Database:
    """The table the graph asks."""
    database: Database = graph.resource(Database)
    return database


def _value(node: Computation, graph: Graph, kind: Any) -> Any:
    outcome = graph.outcome(node)
    return outcome if isinstance(outcome, kind) and not isinstance(outcome, Failure | bool) else None


# Counts and lists


@rule("S", "[I found|There {plural <n> is|are}] {COUNT <n>} {NOUN <n>}{THAT <condition>}.")
def how_many(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("count", (condition,)):
            number = _value(node, graph, int)
            return None if number is None else {"n": node, "condition": condition}
    return None


@rule("S", "[I found|There {plural <n> is|are}] {COUNT <n>} {NOUN <n>}{THAT <condition>}[: {LIST <some>}].")
def which(node: Computation, graph: Graph) -> Found:
    found = _rows(node, graph)
    match node:
        case Call("rows", (condition,)) if found and len(found) <= 8:
            return {"n": len(found), "condition": condition, "some": tuple(found)}
    return None


@rule("S", "[I found|There are] {COUNT <n>} {NOUN <n>}{THAT <condition>}. The first is {ROW <first>}.")
def which_first(node: Computation, graph: Graph) -> Found:
    found = _rows(node, graph)
    match node:
        case Call("rows", (condition,)) if found and len(found) > 1:
            return {"n": graph.call("count", condition), "condition": condition, "first": graph.call("first", node)}
    return None


@rule("S", "[I found|There is] one {NOUN <n>}{THAT <condition>}: {ROW <first>}.")
def which_one(node: Computation, graph: Graph) -> Found:
    found = _rows(node, graph)
    match node:
        case Call("rows", (condition,)) if found and len(found) == 1:
            return {"n": 1, "condition": condition, "first": graph.call("first", node)}
    return None


@rule("S", "[I found|There are] no {NOUN <n>}{THAT <condition>}.")
def none_at_all(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("rows", (condition,)) if _rows(node, graph) == []:
            return {"n": 0, "condition": condition}
    return None


def _rows(node: Computation, graph: Graph) -> list[Row] | None:
    found: list[Row] | None = _value(node, graph, list)
    return found


@rule("COUNT", "{<n>:,}")
def in_digits(node: Computation, graph: Graph) -> Found:
    return {"n": node} if _value(node, graph, int) else None


@rule("COUNT", "no")
def none(node: Computation, graph: Graph) -> Found:
    return {} if _value(node, graph, int) == 0 else None


@rule("NOUN", "{<noun>}")
def noun(node: Computation, graph: Graph) -> Found:
    database = database_of(graph)
    return {"noun": database.singular if _value(node, graph, int) == 1 else database.plural}


@rule("LIST", "{NAME <only>}")
def one_name(node: Computation, graph: Graph) -> Found:
    items = graph.outcome(node)
    return {"only": items[0]} if len(items) == 1 else None


@rule("LIST", "{NAME <first>} and {NAME <last>}")
def two_names(node: Computation, graph: Graph) -> Found:
    items = graph.outcome(node)
    return {"first": items[0], "last": items[1]} if len(items) == 2 else None


@rule("LIST", "{NAME <first>}, {LIST <rest>}")
def more_names(node: Computation, graph: Graph) -> Found:
    items = graph.outcome(node)
    return {"first": items[0], "rest": items[1:]} if len(items) > 2 else None


# Rows: by name, with what a verb says of a column


@rule("NAME", "{<name>}")
def row_name(node: Computation, graph: Graph) -> Found:
    row = _value(node, graph, Row)
    return {"name": row[database_of(graph).label]} if row else None


@rule("ROW", "{NAME <row>}[, which {FACTS <row>}]")
def row(node: Computation, graph: Graph) -> Found:
    return {"row": node} if _value(node, graph, Row) else None


@rule("S", "{NAME <row>} {FACTS <row>}.", "It is {NAME <row>}.")
def row_alone(node: Computation, graph: Graph) -> Found:
    return {"row": node} if _value(node, graph, Row) else None


@rule("FACTS", "{FACT <facts>}[ and {REST <facts>}]")
def facts(node: Computation, graph: Graph) -> Found:
    found = _value(node, graph, Row)
    known = tuple(words for column, value in found.values if (words := fact(column, value, graph))) if found else ()
    return {"facts": known} if known else None


@rule("FACT", "{<words>}")
def one_fact(node: Computation, graph: Graph) -> Found:
    known = graph.outcome(node)
    return {"words": known[0]} if known else None


@rule("REST", "{FACT <rest>}", "{REST <rest>}", "{FACT <rest>} and {REST <rest>}")
def other_facts(node: Computation, graph: Graph) -> Found:
    known = graph.outcome(node)
    return {"rest": known[1:]} if len(known) > 1 else None


def fact(column: str, value: Any, graph: Graph) -> str:
    """A column in words, empty where the table has none for it or the row no value."""
    verb = database_of(graph).verbs.get(column)
    return verb.replace("{value}", shown(value)) if verb and value is not None else ""


def shown(value: Any) -> str:
    """A value as people write it: whole numbers without a point."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}".rstrip("0")
    return str(value)


# Extremes and aggregates


@rule("S", "{NAME <row>} has the {<most>} {<column>}[{AMONG <condition>}]: {<value>}.")
def extreme(node: Computation, graph: Graph) -> Found:
    found = _value(node, graph, Row)
    match node:
        case Call("top" | "bottom" as name, (Constant(column), condition)) if found:
            most = "highest" if name == "top" else "lowest"
            return {"row": node, "most": most, "column": column, "value": shown(found[column]), "condition": condition}
    return None


@rule("S", "The {<kind>} {<column>}{AMONG <condition>} is {<value>}.")
def aggregate(node: Computation, graph: Graph) -> Found:
    value = _value(node, graph, float)
    match node:
        case Call("average" | "total" as kind, (Constant(column), condition)) if value is not None:
            rounded = f"about {value:,.2f}" if round(value, 2) != value else shown(value)
            return {"kind": kind, "column": column, "value": rounded, "condition": condition}
    return None


@rule("AMONG", " of all {NOUN <n>}")
def among_all(node: Computation, graph: Graph) -> Found:
    return {"n": 0} if isinstance(node, Call) and node.function == "all" else None


@rule("AMONG", " of the {NOUN <n>}{THAT <condition>}")
def among_some(node: Computation, graph: Graph) -> Found:
    return {"n": 0, "condition": node} if isinstance(node, Call) and node.function != "all" else None


# THAT: a condition in words, with a space in front


@rule("THAT", "[ in all]")
def every_row(node: Computation, graph: Graph) -> Found:
    return {} if isinstance(node, Call) and node.function == "all" else None


@rule("THAT", " {CONDITION <condition>}")
def some_rows(node: Computation, graph: Graph) -> Found:
    return {"condition": node} if isinstance(node, Call) and node.function != "all" else None


@rule("CONDITION", "{CONDITION <left>} and {CONDITION <right>}")
def both_conditions(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("and", (left, right)):
            return {"left": left, "right": right}
    return None


@rule("CONDITION", "either {CONDITION <left>} or {CONDITION <right>}")
def one_condition(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("or", (left, right)):
            return {"left": left, "right": right}
    return None


@rule("CONDITION", "with {<column>} {<relation>}{<value>}", "whose {<column>} is {<relation>}{<value>}")
def comparison(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("where", (Constant(column), Constant(operator), Constant(value))) if operator in RELATIONS:
            return {"column": column, "relation": RELATIONS[operator], "value": shown(value)}
    return None


@rule("CONDITION", 'with "{<value>}" in {<column>}', 'whose {<column>} contains "{<value>}"')
def containing(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("where", (Constant(column), Constant("contains"), Constant(value))):
            return {"column": column, "value": value}
    return None


RELATIONS = {"=": "", "!=": "other than ", ">": "above ", "<": "below ", ">=": "at least ", "<=": "at most "}


# Errors


@rule("S", "I cannot say: {<message>}")
def failure(node: Computation, graph: Graph) -> Found:
    outcome = graph.outcome(node)
    return {"message": str(outcome.error)} if isinstance(outcome, Failure) else None
