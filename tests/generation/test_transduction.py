"""Rules and templates to grammars: what the paper's procedure promises, and what its errors say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dialoom.dataflow import Call, Computation, Constant, Graph, Library, from_lispress
from dialoom.errors import EmptyLanguage, InvalidFile, InvalidRule, UnknownName
from dialoom.generation.constraint import Guidance
from dialoom.generation.derivations import count, sampler, shortest, spans_of, text_of
from dialoom.generation.emission import check, to_gbnf, to_lark
from dialoom.generation.grammar import Grammar, Pair, Production, bounded, pruned
from dialoom.generation.recogniser import Recogniser
from dialoom.generation.rule_check import check_rules, fired, silent
from dialoom.generation.rule_files import load_rules
from dialoom.generation.rules import Rules
from dialoom.generation.templates import escape
from dialoom.generation.transduction import expand, transduce


@pytest.fixture
def library() -> Library:
    library = Library()

    @library.function
    def add(x: int, y: int) -> int:
        return x + y

    @library.function
    def say(text: str) -> str:
        return text

    @library.function
    def fail() -> int:
        raise ValueError("no such number")

    return library


@pytest.fixture
def rules() -> Rules:
    rules = Rules()

    @rules.rule("S", "[The sum of|Adding] {NP <x>} and {NP <y>} [is|gives] {<total>}.", weight=2)
    def say_sum(node: Computation, graph: Graph) -> dict[str, Any] | None:
        match node:
            case Call("add", (x, y)):
                return {"x": x, "y": y, "total": node}
        return None

    @rules.rule("NP", "{<n>}")
    def say_number(node: Computation, graph: Graph) -> dict[str, Any] | None:
        return {"n": node}

    @rules.rule("NP", "the sum of {NP <x>} and {NP <y>}")
    def say_part(node: Computation, graph: Graph) -> dict[str, Any] | None:
        match node:
            case Call("add", (x, y)):
                return {"x": x, "y": y}
        return None

    return rules


def graph_of(text: str, library: Library) -> Graph:
    return Graph(from_lispress(text, library), library)


def texts(grammar: Grammar) -> set[str]:
    draw = sampler(grammar)
    return {text_of(grammar, draw()) for _ in range(50 * count(grammar))}


def test_that_a_grammar_holds_every_reply_and_no_other(library: Library, rules: Rules) -> None:
    grammar = transduce(graph_of("(add 1L (add 2L 3L))", library), rules)
    assert count(grammar) == 8
    assert texts(grammar) == {
        f"{verb} 1 and {part} {tail} 6."
        for verb in ("The sum of", "Adding")
        for part in ("5", "the sum of 2 and 3")
        for tail in ("is", "gives")
    }
    assert not Recogniser(grammar).accepts("Adding 1 and 5 gives 7.")
    assert text_of(grammar, shortest(grammar)) == "Adding 1 and 5 is 6."


def test_that_a_span_leads_to_its_rule_and_node(library: Library, rules: Rules) -> None:
    graph = graph_of("(add 1L (add 2L 3L))", library)
    grammar = transduce(graph, rules)
    reply = "Adding 1 and the sum of 2 and 3 gives 6."
    derivation = Recogniser(grammar).derivation(reply)
    assert derivation is not None
    found = {reply[s.begin : s.end]: (s.rule.name, graph.value(s.pair.node)) for s in spans_of(grammar, derivation)}
    assert found["the sum of 2 and 3"] == ("say_part", 5)
    assert found["3"] == ("say_number", 3)
    assert found[reply] == ("say_sum", 6)


def test_that_a_shared_node_is_described_once(library: Library, rules: Rules) -> None:
    text = "(let (x0 (add 1L 1L)) (add x0 x0))"
    shared = expand(graph_of(text, library), rules)
    apart = expand(graph_of("(add (add 1L 1L) (add 1L 1L))", library), rules)
    assert len(shared.pairs) < len(apart.pairs)


def test_that_a_thousand_deep_chain_is_linear_and_does_not_fail(library: Library, rules: Rules) -> None:
    sizes = []
    for n in (500, 1000):
        grammar = transduce(graph_of("(add 1L " * n + "0L" + ")" * n, library), rules)
        sizes.append(len(grammar.productions))
        reply = text_of(grammar, sampler(grammar, seed=3)())
        assert reply.endswith(f" {n}.")
        check(grammar, to_lark(grammar))
    assert sizes[1] < 2.1 * sizes[0]


def test_that_rules_may_recurse_on_the_same_node(library: Library, rules: Rules) -> None:
    @rules.rule("NP", "exactly {NP <n>}")
    def exactly(node: Computation, graph: Graph) -> dict[str, Any]:
        return {"n": node}

    graph = graph_of("(add 1L 2L)", library)
    assert expand(graph, rules).recursive
    grammar = transduce(graph, rules, depth=2)
    assert not grammar.recursive
    recogniser = Recogniser(grammar)
    assert recogniser.accepts("Adding exactly exactly 1 and 2 is 3.")
    assert not recogniser.accepts("Adding exactly exactly exactly exactly 1 and 2 is 3.")


def test_that_bodies_that_add_without_end_are_stopped(library: Library, rules: Rules) -> None:
    @rules.rule("NP", "{NP <more>} less one")
    def more(node: Computation, graph: Graph) -> dict[str, Any]:
        return {"more": graph.call("add", node, 1)}

    with pytest.raises(InvalidRule, match="More than 500 descriptions"):
        transduce(graph_of("(add 1L 2L)", library), rules, max_pairs=500)


def test_that_an_empty_language_names_what_could_not_be_said(library: Library) -> None:
    rules = Rules()
    rules.rule("S", "It is {DATE <d>}.")(lambda node, graph: {"d": node})

    @rules.rule("DATE", "x")
    def never(node: Computation, graph: Graph) -> None:
        return None

    with pytest.raises(EmptyLanguage, match=r"\(DATE, add\(1, 2\)\) could not be realised.*tried 'never'"):
        transduce(graph_of("(add 1L 2L)", library), rules)
    endless = Rules()
    endless.rule("S", "a{S <x>}")(lambda node, graph: {"x": node})
    with pytest.raises(EmptyLanguage, match="contains itself without end"):
        transduce(graph_of("(add 1L 2L)", library), endless)


def test_that_errors_name_the_rule_and_the_line(library: Library, rules: Rules) -> None:
    graph = graph_of("(add 1L 2L)", library)
    with pytest.raises(
        InvalidRule, match=r"rule 'bad' \(.*test_transduction, line \d+\): template, column 4: '\{' opens"
    ):

        @rules.rule("S", "It {is")
        def bad(node: Computation, graph: Graph) -> None:
            return None

    cases: list[tuple[str, Any, str]] = [
        ("{NPP <x>}", lambda node, graph: {"x": node}, r"Unknown nonterminal 'NPP'. Did you mean 'NP'"),
        ("{NP <y>}", lambda node, graph: {"x": node}, r"does not bind <y>; it binds x"),
        ("{NP <x>}", lambda node, graph: {"x": 1 / 0}, r"its body raised ZeroDivisionError"),
        ("{NP <x>}", lambda node, graph: {"x": graph.call("ad")}, r"Unknown function 'ad'"),
        ("{NP <x>}", lambda node, graph: 7, r"its body returned int"),
        ("{<x>:%q}", lambda node, graph: {"x": node}, r"<x> cannot be written"),
        ("{<x>}", lambda node, graph: {"x": graph.call("fail")}, r"<x> is an error: no such number"),
        ("{<x>}", lambda node, graph: {"x": "\ud83d"}, r"<x> cannot be written"),
    ]
    for template, body, problem in cases:
        broken = Rules()
        broken.include(rules)
        broken.rule("S", template)(body)
        with pytest.raises(InvalidRule, match=r"line \d+\)") as error:
            expand(graph, broken)
        assert re.search(problem, str(error.value)), str(error.value)
    with pytest.raises(UnknownName, match="start nonterminal 'X'"):
        expand(graph, rules, "X")


def test_that_helpers_agree_and_special_characters_are_escaped(library: Library) -> None:
    rules = Rules()
    template = r"\{\[\|\]\} {<n>:03d} {plural <n> event|events}, {article <w>} {<w>}" + escape(" [<x>|{y}]\\")
    rules.rule("S", template)(lambda node, graph: {"n": 1, "w": "hour"})
    rules.rule("S", "{plural <n> event|events} {article <w>} {<w>}[!]")(lambda node, graph: {"n": 2, "w": "apple"})
    assert texts(transduce(graph_of('(say "x")', library), rules)) == {
        "{[|]} 001 event, a hour [<x>|{y}]\\",
        "events an apple",
        "events an apple!",
    }


def test_that_values_come_out_verbatim_and_change_nothing(library: Library) -> None:
    rules = Rules()
    rules.rule("S", "You said {<t>}.")(lambda node, graph: {"t": node})
    for hostile in ('a"b', "x<|im_end|>y", "{NP <x>}", "[a|b]", "🎉", "שלום", 'n0: "evil"', "a\nb"):
        root = library.call("say", hostile)
        grammar = transduce(Graph(root, library), rules)
        assert texts(grammar) == {f"You said {hostile}."}
        check(grammar, to_lark(grammar))


def test_that_rules_are_read_from_yaml(tmp_path: Path, library: Library) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "rules:\n"
        "  - head: S\n    match: (add <x> (add <y> 3L))\n"
        "    say: ['{N <x>} + {N <y>} + 3', '{N <x>} and {N <y>} more']\n"
        '  - head: S\n    match: (say "hello")\n    say: hello\n    weight: 2\n'
        "  - {head: N, match: 1L, say: one}\n  - {head: N, match: _, say: some}\n"
        "  - {head: S, match: (add <x> <x>), say: twice the same}\n"
    )
    rules = load_rules(path)
    assert len(rules) == 5
    assert texts(transduce(graph_of("(add 1L (add 2L 3L))", library), rules)) == {
        "one + some + 3",
        "some + some + 3",
        "one and some more",
        "some and some more",
    }
    assert texts(transduce(graph_of('(say "hello")', library), rules)) == {"hello"}
    assert texts(transduce(graph_of("(let (x0 (add 1L 2L)) (add x0 x0))", library), rules)) == {"twice the same"}
    assert check_rules(rules, library=library) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules:\n  - {head: S, match: (add, say: x}", "line 2"),
        ("rules:\n  - {head: S, say: x}", "line 2: a rule has head, match, say"),
        ("rules:\n  - {head: S, match: (add x 1L), say: x}", "write <x> or _"),
        ("rules:\n  - {head: S, match: _, say: '{'}", "template, column 1"),
        ("rules:\n  - {head: S, match: _, say: x, weight: heavy}", "line 2"),
        ("- a", "expected a mapping"),
        ("rules: {", "not YAML"),
    ],
)
def test_that_a_bad_rule_file_names_the_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(InvalidFile) as error:
        load_rules(path)
    assert problem in str(error.value)


def test_that_check_finds_what_can_never_work(library: Library, rules: Rules) -> None:
    assert check_rules(rules, library=library) == []
    rules.rule("LONELY", "x")(lambda node, graph: {})
    rules.rule("S", "{LOOP <x>} {GONE <x>}")(lambda node, graph: {"x": node})
    rules.rule("LOOP", "again {LOOP <x>}")(lambda node, graph: {"x": node})
    rules.add("S", ("x",), lambda node, graph: None, name="odd", place="here, line 1", functions=("ad",))
    said = "\n".join(map(str, check_rules(rules, library=library)))
    assert "never fires: nothing that starts at S asks for LONELY" in said
    assert "Unknown nonterminal 'GONE'" in said
    assert "every rule of LOOP asks for LOOP again" in said
    assert "rule 'odd' (here, line 1): Unknown function 'ad'. Did you mean 'add'" in said


def test_that_fired_and_silent_rules_are_told(library: Library, rules: Rules) -> None:
    graph = graph_of("(add 1L 2L)", library)
    names = {rule.name: nodes for rule, nodes in fired(graph, rules).items()}
    assert names == {"say_sum": ("add(1, 2)",), "say_number": ("1", "2")}
    assert [rule.name for rule in silent([graph], rules)] == ["say_part"]


def test_that_pruning_leaves_only_what_takes_part_in_a_reply() -> None:
    pairs = tuple(Pair(f"N{number}", Constant(number), number) for number in range(5))
    sides: list[tuple[int, tuple[int | str, ...]]] = [
        (0, ("a ", 2)), (0, ("b ", 1)), (0, (0,)), (0, ("a ", 2)), (0, ("", "c")),
        (1, ("x", 1)), (2, ("d",)), (3, ("lost",)), (2, (4, "e")), (4, (1,)),
    ]  # fmt: skip
    grammar = Grammar(0, pairs, tuple(Production(*side) for side in sides))
    assert [(p.head, p.symbols) for p in pruned(grammar).productions] == [
        (0, ("a ", 1)), (0, ("c",)), (1, ("d",)),
    ]  # fmt: skip
    assert [pair.type for pair in pruned(grammar).pairs] == ["N0", "N2"]


def test_that_unrolling_copies_only_what_recurs() -> None:
    pairs = tuple(Pair(f"N{number}", Constant(number), number) for number in range(2))
    sides: list[tuple[int, tuple[int | str, ...]]] = [(0, (1, " and ", 0)), (0, (1,)), (1, ("a",)), (1, ("b",))]
    unrolled = bounded(Grammar(0, pairs, tuple(Production(*side) for side in sides)), depth=3)
    assert [pair.type for pair in unrolled.pairs].count("N1") == 1
    assert count(unrolled) == 2 + 2**2 + 2**3 + 2**4


def test_that_nonterminals_with_the_same_alternatives_are_emitted_once_and_recursive_ones_as_they_are() -> None:
    pairs = tuple(Pair(f"N{number}", Constant(number), number) for number in range(5))
    sides: list[tuple[int, tuple[int | str, ...]]] = [
        (0, (1, 2, 3, 4)), (1, ("a",)), (1, ("b",)), (2, ("a",)), (2, ("b",)),
        (3, ("x", 3)), (3, ()), (4, ("x", 3)), (4, ()),
    ]  # fmt: skip
    grammar = Grammar(0, pairs, tuple(Production(*side) for side in sides))
    lark = to_lark(grammar)
    assert sum(line.endswith('"a" | "b"') for line in lark.splitlines()) == 1
    constraint = Guidance.of_bytes().constrain(grammar)
    constraint.advance(list(b"baxxx"))
    assert constraint.accepting
    assert to_gbnf(grammar).count('"a" | "b"') == 1
