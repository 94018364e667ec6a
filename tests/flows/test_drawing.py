"""Drawings and diffs of flows."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from dialoom.flows import load_flow, parse_flow
from dialoom.flows.diff import diff
from dialoom.flows.drawing import to_html, to_mermaid, to_svg

SHOP = load_flow(Path(__file__).parents[2] / "examples" / "shop" / "shop.yaml").flow
FLOW = """
flow: f
start: ask
slots: {size: {type: choice, choices: [small, large], recognise: choices}}
intents: {buy: {words: [buy]}}
nodes:
  ask:
    prompt: |
      Ask the size.
      Be brief.
    ask: 'Which "size" <b>?'
    memory: [size]
    rules: [{filled: [size], go: done}]
    constraints: [{length: 50}]
  done: {say: "{{ size }}!", go: end}
"""


def test_that_mermaid_holds_every_node_and_transition() -> None:
    text = to_mermaid(SHOP)
    assert all(f"f_{label}__{name}" in text for label, graph in SHOP.graphs() for name in graph.nodes)
    assert 'f_shop__greeting -->|"order_pizza"| f_shop__take_pizza' in text
    assert text.count("subgraph") == text.count("  end\n") == 6
    assert "#quot;size#quot; #lt;b#gt;" in to_mermaid(parse_flow(FLOW).flow)


def test_that_svg_is_sound_xml_with_a_box_for_every_node() -> None:
    root = ElementTree.fromstring(to_svg(SHOP))
    boxes = [item for item in root.iter() if item.tag.endswith("rect")]
    texts = {item.text for item in root.iter() if item.tag.endswith("text")}
    names = {name for _, graph in SHOP.graphs() for name in graph.nodes}
    assert len(boxes) >= len(names)
    assert names <= texts
    ElementTree.fromstring(to_svg(parse_flow(FLOW).flow))


def test_that_html_escapes_what_authors_write_and_has_no_scripts() -> None:
    page = to_html(parse_flow(FLOW).flow)
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<b>?" not in page


def test_that_a_flow_does_not_differ_from_itself() -> None:
    assert diff(SHOP, SHOP) == []


@pytest.mark.parametrize(
    ("old", "new", "what", "words"),
    [
        ("Be brief.", "Be kind.", "text", "+ Be kind."),
        ("{{ size }}!", "{{ size }}.", "text", "say changed"),
        ("length: 50", "length: 60", "constraint", "constraint added: length 60"),
        ("{length: 50}", "{length: 50, message: x}", "constraint", "constraint changed: length 50"),
        ("go: end", "go: close", "transition", "f.done: now leads to close"),
        ("filled: [size]", "intent: buy", "transition", "leads to done on 'buy', before on 'size filled'"),
        ("large]", "big]", "slot", "slot changed: size: choices"),
        ("words: [buy]", "words: [order]", "intent", "intent changed: buy"),
        ("  done:", "  stop: {say: x, go: end}\n  done:", "node", "f.stop: added (say)"),
        ("memory: [size]", "retries: 5", "setting", "retries: None -> 5"),
        ("start: ask", "start: done", "setting", "start: 'ask' -> 'done'"),
        ("slots:", "retries: 7\nslots:", "setting", "retries: 2 -> 7"),
        ('{say: "{{ size }}!", go: end}', "{set: {size: null}, go: end}", "node", "changed from say to set"),
        ("go: done}]", "go: fine}]", "node", "f.fine: renamed from done"),
    ],
)
def test_that_a_change_is_told(old: str, new: str, what: str, words: str) -> None:
    text = FLOW.replace(old, new)
    if "fine" in new:
        text = text.replace("  done:", "  fine:")
    changes = diff(parse_flow(FLOW).flow, parse_flow(text).flow)
    assert any(item.what == what and words in str(item) for item in changes), [str(item) for item in changes]
    if "fine" in new:
        assert len(changes) == 1


def test_that_sub_flows_come_and_go() -> None:
    more = FLOW + "flows: {g: {start: a, nodes: {a: {say: x, go: end}}}}\n"
    assert [str(item) for item in diff(parse_flow(FLOW).flow, parse_flow(more).flow)] == ["g: sub-flow added"]
    assert [str(item) for item in diff(parse_flow(more).flow, parse_flow(FLOW).flow)] == ["g: sub-flow removed"]
