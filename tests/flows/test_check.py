"""The check: what it finds, where, and that it names the mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialoom.flows import Application, load_application, load_flow, parse_flow
from dialoom.flows.checking import Finding, check
from dialoom.flows.checking.schemas import impossible

ROOT = Path(__file__).parents[2]
GOOD = """flow: f
start: ask
slots:
  size: {type: choice, choices: [small, large], recognise: choices}
nodes:
  ask:
    ask: Which size?
    memory: [size]
    rules: [{filled: [size], go: done}]
  done: {say: "{{ size }} it is.", go: end}
"""


def found(text: str, app: Application | None = None) -> list[Finding]:
    return check(parse_flow(text, "f.yaml"), app)


def test_that_a_sound_flow_has_no_findings() -> None:
    assert found(GOOD) == []


@pytest.mark.parametrize("folder", ["shop", "appointments"])
def test_that_the_examples_are_sound(folder: str) -> None:
    path = ROOT / "examples" / folder
    assert check(load_flow(path / f"{folder}.yaml"), load_application(path / "app.py")) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "severity", "words"),
    [
        ("go: done}]", "go: dnoe}]", 9, "error", "Unknown node 'dnoe'. Did you mean 'done'?"),
        ("start: ask", "start: aks", 2, "error", "Unknown start node 'aks'. Did you mean 'ask'?"),
        ("memory: [size]", "memory: [sise]", 8, "error", "Unknown slot 'sise'. Did you mean 'size'?"),
        ("{{ size }}", "{{ sise }}", 10, "error", "Unknown variable 'sise'. Did you mean 'size'?"),
        ("{{ size }}", "{{ size }", 10, "error", "does not parse"),
        ("filled: [size]", "intent: orderr", 9, "error", "Unknown intent 'orderr'"),
        ("filled: [size]", "when: 'size ='", 9, "error", "does not parse"),
        ("go: end}", "go: end}\n  lost: {say: x, go: end}", 11, "warning", "No path from 'ask' leads to 'lost'"),
        ("go: end}", "go: ask}", 6, "warning", "A loop without an exit"),
        ("go: end}", "go: x}\n  x: {set: {size: null}, go: done}", 10, "error", "The turn would never end"),
        ("go: done}]", "go: ask}]", 6, "error", "'ask' is a dead end"),
        ("    rules: [{filled: [size], go: done}]", "    next: [done]", 6, "error", "has no rules"),
        (", recognise: choices", "", 8, "warning", "has no recogniser"),
        ("go: done}]", "go: done}, {go: end}, {when: size, go: end}]", 9, "warning", "never reached"),
        ("    memory", "    repair: {chitchta: false}\n    memory", 8, "error", "Unknown repair 'chitchta'"),
        ("    memory", "    repair: {chitchat: chatter}\n    memory", 8, "error", "Unknown sub-flow 'chatter'"),
        ('say: "{{ size }} it is."', "subflow: extra", 10, "error", "Unknown sub-flow 'extra'"),
        ("slots:", "slots:\n  ghost: {type: text}", 10, "error", "never"),
        (
            "go: end}",
            "go: end}\nflows: {g: {start: a, nodes: {a: {say: x, go: end}}}}",
            11,
            "warning",
            "Nothing starts",
        ),
        ("go: end}", "go: end}\nmoved: {old: nowhere}", 11, "error", "Unknown node 'nowhere'"),
    ],
)
def test_that_a_mistake_is_found_where_it_is(old: str, new: str, line: int, severity: str, words: str) -> None:
    text = GOOD.replace(old, new)
    if "ghost" in new:
        text, line, severity, words = text.replace("{{ size }}", "{{ ghost }}"), 4, "warning", "nothing ever fills it"
    findings = [item for item in found(text) if words in str(item)]
    assert [(item.line, item.severity) for item in findings] == [(line, severity)], found(text)
    assert str(findings[0]).startswith(f"f.yaml:{line}")


CONSTRAINED = GOOD.replace("slots:\n", "slots:\n  n: {type: integer, min: 1, max: 5, recognise: number}\n").replace(
    "memory: [size]", "memory: [size, n]\n    constraints: [RULES]"
)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("{required: [size]}, {empty: [size], at: exit}", "must be filled and empty at exit"),
        ("{required: [size], at: entry}, {empty: [size]}", "must be filled and empty at entry"),
        ("{required: [n]}, {empty: [n]}, {frozen: [n]}", "must not change here, and must be filled"),
        ("{range: {slot: n, min: 6}}", "No value of 'n' is within all its bounds"),
        ("{range: {slot: n, min: 4}}, {range: {slot: n, max: 3}}", "No value of 'n'"),
        ("{pattern: {slot: size, matches: 'x+'}}", "No choice of 'size' matches"),
        ("{append_only: [n]}", "it is no list"),
        ("{frozen: [n]}", "the only node that fills it"),
        ("{required: [other]}", "no node fills it"),
    ],
)
def test_that_contradictions_are_found(rules: str, words: str) -> None:
    text = CONSTRAINED.replace("RULES", rules).replace("slots:\n", "slots:\n  other: {type: text}\n", 1)
    findings = [item for item in found(text) if item.code == "contradiction"]
    assert [words in item.message for item in findings] == [True], findings
    assert findings[0].node == "f.ask"
    assert findings[0].hint


def test_that_constraints_that_agree_are_left_alone() -> None:
    rules = "{required: [size]}, {empty: [n]}, {range: {slot: n, min: 2}}, {range: {slot: n, max: 2}}"
    assert found(CONSTRAINED.replace("RULES", rules)) == []


@pytest.mark.parametrize(
    ("schema", "possible"),
    [
        ({"type": "string"}, True),
        ({"minLength": 5, "maxLength": 3}, False),
        ({"enum": []}, False),
        ({"enum": ["a"], "type": "integer"}, False),
        ({"enum": ["a", 1], "type": "integer"}, True),
        ({"type": "object", "properties": {}, "required": ["x"], "additionalProperties": False}, False),
        ({"type": "object", "properties": {"x": {"minimum": 2, "maximum": 1}}, "required": ["x"]}, False),
        ({"type": "object", "properties": {"x": {"minimum": 2, "maximum": 1}}}, True),
        ({"anyOf": [{"enum": []}, {"type": "string"}]}, True),
        ({"anyOf": [{"enum": []}, False]}, False),
        ({"allOf": [{"type": "string"}, {"enum": []}]}, False),
        ({"type": "array", "items": {"enum": []}, "minItems": 1}, False),
        ({"type": "array", "items": {"enum": []}}, True),
    ],
)
def test_that_schemas_no_model_can_satisfy_are_told(schema: object, possible: bool) -> None:
    assert (impossible(schema) == "") is possible


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("{mood: {enum: []}}", "No model can satisfy"),
        ("{mood: {type: nonsense}}", "is not a JSON Schema"),
        ("{NEXT_NODE: {type: string}}", "hides a field"),
    ],
)
def test_that_output_schemas_are_checked(output: str, words: str) -> None:
    text = GOOD.replace("    memory", f"    prompt: Ask.\n    output: {output}\n    memory")
    assert [words in item.message for item in found(text)] == [True]


def test_that_names_of_the_application_are_checked_when_it_is_given() -> None:
    text = GOOD.replace('say: "{{ size }} it is."', "call: send")
    assert found(text) == []
    app = Application()

    @app.function
    def sent() -> None:
        return None

    assert "Unknown function 'send'. Did you mean 'sent'?" in str(found(text, app)[0])
