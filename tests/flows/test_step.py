"""The step: nodes, memory, rules, sub-flows; a turn is applied whole or not at all."""

from __future__ import annotations

import pytest

from dialoom.flows import Application

from .talking import Talk, kinds

TABLE = """
flow: table
start: ask
title: your table
slots:
  guests: {type: integer, min: 1, max: 8, recognise: number, refusal: We seat 1 to 8.}
  area: {type: choice, choices: [inside, outside], recognise: choices}
nodes:
  ask:
    ask: {guests: For how many?, area: Inside or outside?}
    rules: [{filled: [guests, area], go: done}]
  done: {say: "A table {{ area }} for {{ guests }}.", go: end}
"""


def test_that_a_flow_asks_for_what_is_missing_and_ends() -> None:
    talk = Talk(TABLE)
    assert talk.say(None).text == "For how many?"
    assert talk.say("four").text == "Inside or outside?"
    turn = talk.say("outside")
    assert turn.reply[0] == "A table outside for 4."
    assert talk.where == "completion.more"
    assert talk.state.memory == {"guests": 4, "area": "outside"}


def test_that_one_message_may_say_it_all() -> None:
    assert Talk(TABLE).say("inside, for 2").reply[0] == "A table inside for 2."


def test_that_a_value_out_of_bounds_is_refused_with_the_authors_words() -> None:
    talk = Talk(TABLE)
    turn = talk.all(None, "20 people")
    assert turn.reply == ("We seat 1 to 8.", "For how many?")
    assert "guests" not in talk.state.memory
    assert turn.of("constraint_violated")[0].data["constraint"] == "slot guests"


def test_that_a_step_leaves_the_state_it_was_given() -> None:
    talk = Talk(TABLE)
    talk.say(None)
    before = talk.state
    copy = before.model_dump_json()
    talk.say("3")
    assert before.model_dump_json() == copy
    assert talk.state.memory == {"guests": 3}


def test_that_events_are_numbered_and_say_why() -> None:
    talk = Talk(TABLE)
    turns = [talk.say(None), talk.say("3"), talk.say("inside")]
    events = [event for turn in turns for event in turn.events]
    assert [event.offset for event in events] == list(range(len(events)))
    changed = [
        (event.data["slot"], event.data["old"], event.data["new"], event.cause)
        for event in events
        if event.kind == "slot_changed"
    ]
    assert changed == [("guests", None, 3, "recognised"), ("area", None, "inside", "recognised")]


def test_that_set_and_if_need_no_model_and_keep_types() -> None:
    talk = Talk(
        """
flow: f
start: put
slots: {items: {type: list}, n: {type: integer}, name: {type: text}}
nodes:
  put: {set: {items: "{{ (items or []) + ['a', 'b'] }}", n: "{{ 1 + 1 }}", name: "x{{ 1 + 1 }}"}, go: branch}
  branch: {if: [{when: "items | length > 2", go: long}], else: short}
  long: {say: long, go: end}
  short: {say: "short {{ n }} {{ name }}", go: end}
"""
    )
    assert talk.say(None).reply[0] == "short 2 x2"
    assert talk.state.memory == {"items": ["a", "b"], "n": 2, "name": "x2"}


SUBFLOW = """
flow: f
start: begin
slots: {street: {type: text}}
nodes:
  begin: {subflow: address, with: {country: NL}, into: {street: line}, go: done, on_cancel: dropped}
  done: {say: "To {{ street }}.", go: end}
  dropped: {say: Nowhere then., go: end}
flows:
  address:
    start: ask
    slots:
      line: {type: text, recognise: text}
      country: {type: text}
    nodes:
      ask: {ask: "Which street in {{ country }}?", memory: [line], rules: [{filled: [line], go: end}]}
"""


def test_that_a_subflow_is_called_with_arguments_and_returns_values() -> None:
    talk = Talk(SUBFLOW)
    assert talk.say(None).text == "Which street in NL?"
    assert talk.say("Main Street 1").reply[0] == "To Main Street 1."
    assert talk.state.memory == {"street": "Main Street 1"}


def test_that_a_cancelled_subflow_goes_where_its_caller_says() -> None:
    talk = Talk(SUBFLOW)
    assert talk.all(None, "cancel").text == "Do you want to cancel address?"
    assert talk.say("yes").reply[:2] == ("I have cancelled address.", "Nowhere then.")


def test_that_slots_of_a_node_are_forgotten_when_it_is_left() -> None:
    talk = Talk(
        """
flow: f
start: first
nodes:
  first: {ask: Sure?, slots: {ok: {type: boolean, recognise: yes_no}}, rules: [{filled: [ok], go: second}]}
  second: {ask: Really sure?, slots: {ok: {type: boolean, recognise: yes_no}}, rules: [{filled: [ok], go: first}]}
"""
    )
    assert talk.all(None, "yes").text == "Really sure?"
    assert talk.say("yes").text == "Sure?"
    assert talk.state.top.local == {}


def test_that_frozen_slots_and_append_only_lists_keep_their_rules() -> None:
    talk = Talk(
        """
flow: f
start: put
slots:
  once: {type: text, frozen: true}
  log: {type: list, append_only: true}
nodes:
  put: {set: {once: a, log: [1]}, go: again}
  again: {set: {once: b, log: [2]}, go: more}
  more: {set: {log: "{{ log + [2] }}"}, go: say}
  say: {say: "{{ once }} {{ log }}", go: end}
"""
    )
    turn = talk.say(None)
    assert turn.reply[0] == "a [1, 2]"
    assert [event.data["constraint"] for event in turn.of("constraint_violated")] == ["slot once", "slot log"]


def test_that_a_rule_may_follow_the_state_of_the_automaton() -> None:
    flow = """
flow: f
start: ask
nodes:
  ask: {ask: Well?, rules: [{automaton: q7, go: special}, {go: plain}]}
  special: {say: Special., go: close}
  plain: {say: Plain., go: close}
"""
    assert Talk(flow, automaton="q7").say("anything").text == "Special."
    assert Talk(flow, automaton="q8").say("anything").text == "Plain."


def test_that_a_loop_that_never_listens_ends_in_a_reply_and_the_old_state() -> None:
    talk = Talk("flow: f\nstart: a\nnodes:\n  a: {say: x, go: b}\n  b: {say: y, go: a}\n")
    turn = talk.say("hi")
    assert turn.text == "I am sorry, that did not work."
    assert kinds(turn) == ["user_said", "turn_failed", "assistant_said"]
    assert (talk.where, talk.state.turn) == ("f.a", 1)


def test_that_a_flow_that_calls_itself_for_ever_is_stopped() -> None:
    talk = Talk(
        "flow: f\nstart: a\nnodes: {a: {subflow: g, go: end}}\n"
        "flows: {g: {start: a, nodes: {a: {subflow: g, go: end}}}}\n"
    )
    assert "More than 16 flows" in talk.say("hi").of("turn_failed")[0].data["error"]


def test_that_a_failing_template_is_an_event_and_the_turn_goes_on() -> None:
    talk = Talk(
        """
flow: f
start: a
slots: {n: {type: integer}}
nodes:
  a: {say: "{{ 1 // (n or 0) }}", go: b}
  b: {say: Still here., go: close}
"""
    )
    turn = talk.say("hi")
    assert turn.text == "Still here."
    assert "template_failed" in kinds(turn)


@pytest.mark.parametrize(
    "source",
    ["{{ ''.__class__.__mro__ }}", "{{ 'a' * 10000000 }}", "{{ 9 ** 9 ** 9 }}", "{{ cycler.__init__.__globals__ }}"],
)
def test_that_templates_are_kept_in_their_sandbox(source: str) -> None:
    talk = Talk(f'flow: f\nstart: a\nnodes:\n  a: {{say: "{source}", go: b}}\n  b: {{say: Safe., go: close}}\n')
    turn = talk.say("hi")
    assert turn.text == "Safe."
    assert "template_failed" in kinds(turn)


def test_that_secret_values_are_written_nowhere_but_memory() -> None:
    talk = Talk(
        """
flow: f
start: a
slots: {pin: {type: text, secret: true, recognise: {by: pattern, pattern: '\\b\\d{4}\\b'}}}
nodes:
  a: {ask: Your PIN?, memory: [pin], rules: [{filled: [pin], go: b}]}
  b: {call: keep, with: {pin: "{{ pin }}"}, go: c}
  c: {say: Thanks., go: close}
""",
        _keeper(),
    )
    turn = talk.all(None, "it is 9731")
    written = [event.model_dump_json() for turn in talk.turns for event in turn.events]
    assert turn.text == "Thanks."
    assert talk.state.memory == {"pin": "9731"}
    assert not any("9731" in line for line in written)
    assert not any("9731" in item.text for item in talk.state.history)


def _keeper() -> Application:
    app = Application()

    @app.function
    def keep(pin: str) -> bool:
        return pin == "9731"

    return app


def test_that_say_takes_its_texts_in_turn() -> None:
    talk = Talk("flow: f\nstart: a\nnodes:\n  a: {ask: Go on?, rules: [{go: b}]}\n  b: {say: [One., Two.], go: a}\n")
    assert [talk.say("x").reply[0] for _ in range(3)] == ["One.", "Two.", "One."]


def test_that_a_person_may_take_over_and_a_closed_session_opens_again() -> None:
    talk = Talk(TABLE)
    assert talk.say("get me a human please").state.status == "handed_over"
    assert talk.say("hello").text == "A colleague has taken over this conversation and will answer you here."
    other = Talk(TABLE)
    assert other.all("inside for 2", "no").state.status == "closed"
    assert other.say("outside for 3").reply[0] == "A table outside for 3."
