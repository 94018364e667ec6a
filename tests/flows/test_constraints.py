"""Constraints before and after a node, and what happens when they are violated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialoom.flows import Application
from dialoom.models.scripted import ScriptedModel

from .talking import Talk, kinds

BASE = """
flow: f
start: ask
retries: 1
slots:
  name: {type: text}
  age: {type: integer, recognise: number}
  tags: {type: list, default: [a]}
  item:
    type: object
    fields: {kind: {type: text}, size: {type: text}}
  items: {type: list, items: {type: object, fields: {kind: {type: text}, size: {type: text}}}}
nodes:
  ask:
    prompt: Ask.
    ask: Well?
    understand: [model]
    memory: [name, age, tags, item, items]
    next: [done]
    constraints: [CONSTRAINT]
    fallback: {say: Gave up.}
  done: {ask: Done., rules: [{go: end}]}
"""


def answers(constraint: str, utterance: str = "Ok.", go: str = "done", **memory: Any) -> tuple[str, list[str]]:
    """What is said and which constraints were violated when the model answers this, then falls silent."""
    output = json.dumps({"ASSISTANT_UTTERANCE": utterance, "NEXT_NODE": go, "MEMORY": memory})
    talk = Talk(BASE.replace("CONSTRAINT", constraint), model=ScriptedModel([output]))
    turn = talk.say("hello there")
    return turn.text, [event.data["constraint"] for event in turn.of("constraint_violated")]


ITEM = {"kind": "pizza", "size": None}


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        ("{required: [name]}", {"name": "Ada"}, {}),
        ("{empty: [name], at: exit}", {}, {"name": "Ada"}),
        ("{frozen: [name]}", {}, {"name": "Ada"}),
        ("{append_only: [tags]}", {"tags": ["a", "b"]}, {"tags": ["b"]}),
        ("{allow: {to: done, when: age and age > 17}}", {"age": 18}, {"age": 17}),
        ("{range: {slot: age, min: 18, max: 99}}", {"age": 18}, {"age": 17}),
        ("{range: {slot: tags, max: 2}}", {"tags": ["a", "b"]}, {"tags": ["a", "b", "c"]}),
        ("{pattern: {slot: name, matches: '[A-Z][a-z]+'}}", {"name": "Ada"}, {"name": "ada"}),
        ("{complete: [item]}", {"item": {"kind": "pizza", "size": "xl"}}, {"item": ITEM}),
        ("{complete: [items]}", {"items": [{"kind": "pizza", "size": "xl"}]}, {"items": [ITEM]}),
        ("{length: 10}", {"utterance": "Short."}, {"utterance": "Much longer than that."}),
        ("{forbidden: [refund]}", {"utterance": "We refunded it."}, {"utterance": "A Refund!"}),
        ("{forbidden: ['/refund\\w*/']}", {"utterance": "Fine."}, {"utterance": "We refunded it."}),
        (
            "{language: [en, nl]}",
            {"utterance": "Your pizza will be there in half an hour."},
            {"utterance": "Ihre Pizza wird in einer halben Stunde bei Ihnen sein."},
        ),
    ],
)
def test_that_a_constraint_lets_the_good_pass_and_not_the_bad(constraint: str, good: Any, bad: Any) -> None:
    text, violated = answers(constraint, **good)
    assert text == good.get("utterance", "Ok.")
    assert violated == []
    text, violated = answers(constraint, **bad)
    assert text == "Gave up.\nWell?"
    assert len(violated) == 2
    assert len(set(violated)) == 1


def test_that_a_partial_item_may_stay_while_the_node_does() -> None:
    assert answers("{complete: [item]}", go="ask", item=ITEM) == ("Ok.", [])


def test_that_turns_in_a_node_are_limited() -> None:
    flow = """
flow: f
start: a
nodes:
  a:
    ask: Again?
    rules: [{when: "false", go: end}]
    constraints: [{turns: 2}]
    fallback: {say: Enough., go: close}
"""
    talk = Talk(flow)
    talk.say("x")
    talk.say("x")
    turn = talk.say("x")
    assert turn.text == "Enough."
    assert turn.of("constraint_violated")[0].data["constraint"] == "turns 2"


ENTRY = """
flow: f
start: ask
slots: {basket: {type: list, default: BASKET}, name: {type: text}}
nodes:
  ask:
    ask: Well?
    rules: [{go: end}]
    constraints: [CONSTRAINT]
    fallback: {say: No entry., go: other}
  other: {ask: Other?, rules: [{go: end}]}
"""


def test_that_entry_constraints_send_elsewhere_or_clear() -> None:
    for constraint, basket, reply in (
        ("{empty: [basket]}", "[]", "Well?"),
        ("{empty: [basket]}", "[x]", "No entry.\nOther?"),
        ("{empty: [basket], clear: true}", "[x]", "Well?"),
        ("{required: [basket], at: entry}", "[]", "No entry.\nOther?"),
        ("{required: [basket], at: entry}", "[x]", "Well?"),
    ):
        talk = Talk(ENTRY.replace("CONSTRAINT", constraint).replace("BASKET", basket))
        assert talk.say(None).text == reply
        if "clear" in constraint:
            assert talk.memory["basket"] is None


def test_that_entry_is_judged_once_a_visit_not_after_an_interruption() -> None:
    flow = ENTRY.replace("CONSTRAINT", "{empty: [basket], clear: true}").replace("BASKET", "[]")
    flow = flow.replace(
        "rules: [{go: end}]\n    con", "slots: {n: {type: integer, recognise: number}}\n    rules: [{go: put}]\n    con"
    )
    flow += "  put: {set: {basket: [kept]}, go: second}\n  second: {ask: Second?, rules: [{go: end}]}\n"
    talk = Talk(flow)
    talk.all(None, "5", "how are you")
    assert talk.memory["basket"] == ["kept"]


def test_that_a_constraint_of_the_application_sees_the_proposal() -> None:
    app = Application()

    @app.constraint
    def adult(proposal: Any, least: int) -> str | None:
        return None if (proposal.after["age"] or 0) >= least else f"You must be {least}."

    flow = """
flow: f
start: ask
retries: 1
slots: {age: {type: integer, recognise: number}}
nodes:
  ask:
    ask: How old?
    memory: [age]
    rules: [{filled: [age], go: done}]
    constraints: [{check: adult, with: {least: 18}, name: grown up}]
    fallback: {say: Sorry., go: hand_off}
  done: {say: Welcome., go: close}
"""
    talk = Talk(flow, app)
    turn = talk.all(None, "17")
    assert turn.reply == ("You must be 18.", "How old?")
    assert talk.memory == {}
    assert turn.of("constraint_violated")[0].data == {
        "constraint": "grown up",
        "message": "You must be 18.",
        "node": "ask",
        "flow": "f",
    }
    assert [event.cause for event in turn.of("slot_changed")] == ["recognised", "undone"]
    assert talk.say("18").text == "Welcome."
    talk = Talk(flow, app)
    assert talk.all("3", "4").state.status == "handed_over"


@pytest.mark.parametrize("broken", [True, False])
def test_that_a_constraint_that_raises_or_is_unknown_fails_closed(broken: bool) -> None:
    app = Application()
    if broken:

        @app.constraint
        def safe(proposal: Any) -> str | None:
            raise KeyError("x")

    flow = """
flow: f
start: a
nodes:
  a: {ask: Go?, rules: [{go: b}], constraints: [{check: safe}], fallback: {say: Stop., go: stay}}
  b: {say: B., go: close}
"""
    turn = Talk(flow, app).say("go")
    assert turn.reply == ("This could not be checked.", "Go?")
    assert "function_failed" in kinds(turn)


def test_that_what_the_user_says_may_be_constrained() -> None:
    flow = """
flow: f
start: a
constraints: [{forbidden: [damn], of: user, message: Please.}]
nodes:
  a: {ask: Go?, rules: [{go: end}]}
"""
    talk = Talk(flow)
    assert talk.all(None, "damn it").text == "Please.\nGo?"
    assert talk.where == "f.a"


@pytest.mark.parametrize(
    ("utterance", "wrong"),
    [
        ("Welche Größe?", True),
        ("Noch etwas?", True),
        ("Quale pizza desidera?", True),
        ("ご注文は？", True),
        ("What size?", False),
        ("Large Margherita, Caesar salad", False),
        ("Pizza or salad?", False),
        ("Your card number, please", False),
    ],
)
def test_that_short_words_are_judged_where_their_language_can_be_told(utterance: str, wrong: bool) -> None:
    text, violated = answers("{language: [en]}", utterance)
    assert (text == "Gave up.\nWell?", bool(violated)) == (wrong, wrong)


@pytest.mark.parametrize("utterance", ["Ja", "OK", "Prima", "$19.00", "Dr Anna Smith"])
def test_that_words_of_no_one_language_are_let_through_and_the_trace_says_so(utterance: str) -> None:
    output = json.dumps({"ASSISTANT_UTTERANCE": utterance, "NEXT_NODE": "done"})
    talk = Talk(BASE.replace("CONSTRAINT", "{language: [en]}"), model=ScriptedModel([output]))
    turn = talk.say("hello there")
    assert turn.text == utterance
    assert "cannot be told" in turn.of("constraint_undecided")[0].data["message"]


def test_that_the_users_language_may_be_constrained() -> None:
    flow = """
flow: f
start: a
constraints: [{language: [en], of: user, message: English please.}]
nodes:
  a: {ask: Go?, slots: {ok: {type: boolean, recognise: yes_no}}, rules: [{filled: [ok], go: end}]}
"""
    talk = Talk(flow)
    assert talk.all(None, "Ich möchte eine große Pizza").text == "English please.\nGo?"
    assert talk.say("I do not know").text != "English please.\nGo?"
