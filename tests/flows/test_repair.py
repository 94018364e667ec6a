"""Repairs as sub-flows that an author may replace, and the stack they run on."""

from __future__ import annotations

from dialoom.flows.checking import check
from dialoom.flows.flow import default_repairs
from dialoom.flows.load import parse_flow
from dialoom.flows.nodes import REPAIRS

from .talking import Talk, kinds

BASE = """
flow: f
title: your order
start: ask
HEAD
slots:
  size: {type: choice, choices: [small, large], recognise: choices}
  colour: {type: choice, choices: [red, blue], recognise: choices}
intents: {hours: {words: [open]}, gift: {words: [gift]}}
nodes:
  ask:
    ask: {size: Which size?, colour: Which colour?}
    NODE
    rules: [{filled: [size, colour], go: done}]
  done: {say: "{{ size }} {{ colour }}.", go: end}
flows:
  hours: {trigger: hours, start: tell, nodes: {tell: {say: Nine to five., go: end}}}
  gift:
    title: the gift
    trigger: gift
    start: wrap
    slots: {paper: {type: choice, choices: [plain, shiny], recognise: choices}}
    nodes:
      wrap: {ask: Plain or shiny?, memory: [paper], rules: [{filled: [paper], go: told}]}
      told: {say: "{{ paper }} paper.", go: end}
MORE
"""


def flow(head: str = "", node: str = "help: Small or large.", more: str = "") -> str:
    return BASE.replace("HEAD", head).replace("NODE", node).replace("MORE", more)


MINE = "  chitchat: {start: a, trigger: small_talk, nodes: {a: {say: No time., go: end}}}"
OTHER = "  joke: {start: a, nodes: {a: {say: Knock knock., go: end}}}"


def test_that_every_repair_has_a_default_that_checks_clean() -> None:
    defaults = default_repairs()
    assert set(defaults.flows) == set(REPAIRS)
    from importlib.resources import files

    text = files("dialoom.flows").joinpath("repairs.yaml").read_text("utf-8")
    assert check(parse_flow(text)) == []


def test_that_a_sub_flow_of_the_same_name_takes_the_place_of_a_repair() -> None:
    assert Talk(flow(more=MINE)).all(None, "how are you").text == "No time.\nWhich size?"


def test_that_a_flow_or_a_node_may_name_another_sub_flow_or_none() -> None:
    for head, node in (("repair: {chitchat: joke}", ""), ("repair: {chitchat: false}", "repair: {chitchat: joke}")):
        talk = Talk(flow(head, node, OTHER))
        assert talk.all(None, "how are you").text == "Knock knock.\nWhich size?"
    talk = Talk(flow("repair: {chitchat: joke}", "repair: {chitchat: false}", OTHER))
    turn = talk.all(None, "how are you")
    assert turn.text == "I am sorry, I did not understand that.\nWhich size?"


def test_that_everything_may_be_switched_off() -> None:
    off = "repair: {" + ", ".join(f"{name}: false" for name in REPAIRS) + "}"
    talk = Talk(flow(off))
    assert talk.all(None, "xyzzy").text == "Which size?"
    assert talk.say("small").text == "Which colour?"
    assert talk.say("sorry, large").text == "Which colour?"
    assert talk.memory["size"] == "large"
    assert talk.say("are you open").text == "Nine to five.\nWhich colour?"
    assert talk.say("blue").text == "large blue."
    assert talk.state.status == "closed"


def test_that_digressions_nest_and_return_in_order() -> None:
    talk = Talk(flow())
    talk.all(None, "a gift")
    assert talk.where == "gift.wrap"
    turn = talk.say("when are you open?")
    assert turn.reply == ("Nine to five.", "Back to the gift.", "Plain or shiny?")
    turn = talk.say("shiny")
    assert turn.reply == ("shiny paper.", "Back to your order.", "Which size?")
    assert len(talk.state.stack) == 1


def test_that_a_digression_is_cancelled_alone() -> None:
    talk = Talk(flow())
    talk.all(None, "small", "a gift", "never mind")
    turn = talk.say("yes")
    assert turn.reply == ("I have cancelled the gift.", "Back to your order.", "Which colour?")
    assert talk.memory["size"] == "small"


def test_that_keeping_on_gives_the_word_back() -> None:
    talk = Talk(flow())
    talk.all(None, "small", "cancel")
    assert talk.say("no").text == "Which colour?"
    talk.say("cancel")
    assert talk.say("blue").reply[0] == "small blue."


def test_that_cancelling_the_flow_forgets_all_but_what_is_kept() -> None:
    talk = Talk(flow().replace("[red, blue], recognise", "[red, blue], keep: true, recognise"))
    talk.all(None, "red", "cancel", "yes")
    assert talk.state.memory == {"colour": "red"}


def test_that_a_correction_respects_bounds_and_constraints() -> None:
    node = "constraints: [{pattern: {slot: size, matches: 'small'}, message: Only small today.}]"
    talk = Talk(flow(node=node))
    talk.all(None, "small")
    turn = talk.say("sorry, make it large")
    assert turn.reply == ("Only small today.", "Which colour?")
    assert talk.memory["size"] == "small"
    assert "constraint_violated" in kinds(turn)


def test_that_a_hand_off_may_be_declined_by_the_authors_own_flow() -> None:
    closed = "  hand_off: {trigger: person, start: a, nodes: {a: {say: Nobody is here now., go: end}}}"
    talk = Talk(flow(more=closed))
    assert talk.all(None, "a human please").text == "Nobody is here now.\nWhich size?"
    assert talk.state.status == "open"


def test_that_many_requests_at_once_are_bounded() -> None:
    talk = Talk(flow(), None)
    turn = talk.all(None, "small" + ", a shiny gift" * 40)
    assert len(talk.state.queue) <= 8
    assert turn.text
    assert talk.state.status == "open"


def test_that_the_reminder_names_nothing_that_was_not_interrupted() -> None:
    talk = Talk(flow())
    turn = talk.all(None, "small, and when are you open?")
    assert turn.reply == ("Nine to five.", "Which colour?")
