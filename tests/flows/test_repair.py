"""Repairs as sub-flows that an author may replace, and the stack they run on."""

from __future__ import annotations

import pytest

from dialoom.flows import Application
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


DESK = """
flow: desk
title: your booking
start: find
slots:
  room: {type: choice, choices: [red, blue], recheck: price}
  price: {type: number}
  notes: {type: list, recheck: price}
intents: {room: {words: [room]}, gift: {words: [gift]}}
nodes:
  find: {subflow: room, into: {room: room}, go: price}
  price: {call: price, with: {room: "{{ room }}", notes: "{{ notes }}"}, into: price, READ_ONLY go: pay}
  pay:
    ask: "The {{ room }} room for {{ price }}. Pay?"
    slots: {agreed: {type: boolean, recognise: yes_no}}
    rules: [{when: agreed, go: done}]
  done: {say: "Paid {{ price }} for {{ room }}.", go: end}
flows:
  room:
    title: the room
    trigger: room
    start: which
    slots: {room: {type: choice, choices: [red, blue], recognise: choices}}
    nodes:
      which: {ask: Which room?, memory: [room], rules: [{filled: [room], go: end}]}
  gift:
    title: the gift
    trigger: gift
    start: wrap
    slots: {paper: {type: choice, choices: [plain, shiny], recognise: choices}}
    nodes:
      wrap: {ask: Plain or shiny?, memory: [paper], rules: [{filled: [paper], go: put}]}
      put: {set: {notes: "{{ (notes or []) + [paper] }}"}, go: end}
"""


def desk(read_only: bool = True) -> tuple[Talk, list[str]]:
    app, calls = Application(), list[str]()

    @app.function
    def price(room: str, notes: list[str] | None) -> float:
        calls.append(room)
        return (10.0 if room == "red" else 20.0) + len(notes or [])

    return Talk(DESK.replace("READ_ONLY", "read_only: true," if read_only else ""), app), calls


def test_that_a_call_that_only_reads_is_passed_again_after_a_correction() -> None:
    talk, calls = desk()
    assert talk.all(None, "red").text == "The red room for 10.0. Pay?"
    turn = talk.say("no, make the room blue")
    assert turn.reply == (
        "I have changed that: room: blue.",
        "Back to your booking.",
        "The blue room for 20.0. Pay?",
    )
    assert calls == ["red", "blue"]
    assert (talk.where, len(talk.state.stack)) == ("desk.pay", 1)


def test_that_a_call_that_does_more_than_read_makes_it_too_late() -> None:
    talk, calls = desk(read_only=False)
    talk.all(None, "red")
    assert talk.say("no, make the room blue").reply[0].startswith("That is already done")
    assert (talk.state.memory["room"], calls) == ("red", ["red"])


def test_that_a_sub_flow_that_changed_a_rechecked_slot_sends_what_it_interrupted_there_again() -> None:
    talk, calls = desk()
    turn = talk.all(None, "red", "a shiny gift")
    assert turn.reply == ("Back to your booking.", "The red room for 11.0. Pay?")
    turn = talk.say("actually, make the gift plain")
    assert turn.reply[-1] == "The red room for 11.0. Pay?"
    assert talk.state.memory["notes"] == ["plain"]
    assert calls == ["red"] * 3


def test_that_one_more_is_no_correction() -> None:
    talk, _ = desk()
    talk.all(None, "red", "a shiny gift", "sorry, another gift, a plain one")
    assert talk.state.memory["notes"] == ["shiny", "plain"]


def test_that_what_is_at_its_end_is_corrected_if_nothing_was_called() -> None:
    talk = Talk(flow())
    assert talk.all(None, "small and red").reply == ("small red.", "Is there anything else?")
    turn = talk.say("no, make it large")
    assert turn.reply == ("I have changed that: size: large.", "large red.", "Is there anything else?")
    assert talk.say("no").text == "Goodbye."


def test_that_a_sub_flow_is_corrected_after_the_end_and_the_end_said_again() -> None:
    talk, _ = desk()
    assert talk.all(None, "red", "yes").reply == ("Paid 10.0 for red.", "Is there anything else?")
    turn = talk.say("sorry, blue")
    assert turn.reply[0] == "I have changed that: room: blue."
    assert turn.reply[-1] == "The blue room for 20.0. Pay?"
    assert talk.say("yes").reply[0] == "Paid 20.0 for blue."
    talk, _ = desk(read_only=False)
    turn = talk.all(None, "red", "yes", "sorry, blue")
    assert turn.reply == (
        "That is already done, and I cannot change it any more.",
        "Is there anything else?",
    )
    assert talk.say("no").text == "Goodbye."


def test_that_a_correction_reaches_what_a_digression_interrupted() -> None:
    talk = Talk(flow())
    talk.all(None, "small", "a gift")
    assert talk.where == "gift.wrap"
    turn = talk.say("no, make it large")
    assert turn.reply == ("I have changed that: size: large.", "Which colour?")
    assert [frame.flow for frame in talk.state.stack] == ["f"]


def test_that_a_correction_and_a_request_in_one_message_are_both_served() -> None:
    talk = Talk(flow())
    turn = talk.all(None, "small", "no, make it large and when are you open?")
    assert turn.reply == ("I have changed that: size: large.", "Nine to five.", "Which colour?")


LINES: dict[str, tuple[str | None, ...]] = {
    "digression": (None, "small", "a gift", "shiny"),
    "correction": (None, "small", "sorry, large"),
    "cancellation": (None, "small", "cancel"),
    "clarification": (None, "what are my options?"),
    "chitchat": (None, "how are you"),
    "cannot_handle": (None, "xyzzy"),
    "hand_off": (None, "let me talk to a person"),
    "completion": (None, "small", "red"),
}
JOKE = "  joke: {start: a, nodes: {a: {say: Knock knock., go: end}}}"


def last(head: str, node: str, more: str, repair: str) -> tuple[str, ...]:
    """The reply to the words that call for a repair; the node leads to the end itself, so that its repairs count."""
    return Talk(flow(head, node, more).replace("go: done}", "go: end}")).all(*LINES[repair]).reply


@pytest.mark.parametrize("repair", REPAIRS)
def test_that_every_repair_may_be_replaced_for_a_flow_and_for_a_node(repair: str) -> None:
    named, off = f"repair: {{{repair}: joke}}", f"repair: {{{repair}: false}}"
    own = f"  {repair}: {{start: a, nodes: {{a: {{say: Knock knock., go: end}}}}}}"
    for head, node, more in ((named, "", JOKE), (off, named, JOKE), ("", named, JOKE), ("", "", own)):
        assert "Knock knock." in last(head, node, more, repair), (head, node, more)
    for head, node in (("", ""), (off, ""), (named, off)):
        assert "Knock knock." not in last(head, node, JOKE, repair), (head, node)


@pytest.mark.parametrize(
    ("repair", "lines"),
    [
        ("correction", ("shiny", "sorry, plain")),
        ("cancellation", ("cancel",)),
        ("clarification", ("what are my options?",)),
        ("chitchat", ("how are you",)),
        ("cannot_handle", ("xyzzy",)),
        ("hand_off", ("let me talk to a person",)),
    ],
)
def test_that_a_sub_flow_may_replace_a_repair_for_itself_alone(repair: str, lines: tuple[str, ...]) -> None:
    text = flow(more=JOKE).replace("    title: the gift\n", f"    title: the gift\n    repair: {{{repair}: joke}}\n")
    text = text.replace("rules: [{filled: [paper], go: told}]", "rules: [{intent: hours, go: told}]")
    assert "Knock knock." in Talk(text).all(None, "small", "a gift", *lines).reply
    assert "Knock knock." not in Talk(text).all(*LINES[repair]).reply
