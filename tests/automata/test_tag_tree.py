"""The tag tree and the merging of its states on an example small enough to be worked by hand."""

from __future__ import annotations

import pytest

from dialoom.automata import Automaton, Round, TagSequence, learn_paper
from dialoom.automata.encoding import encode
from dialoom.automata.tree import build_tree
from dialoom.errors import NothingToLearn, UsageError


def talk(name: str, *rounds: str) -> TagSequence:
    """Rounds of blank-separated tags; the user speaks first."""
    spoken = (Round("user" if k % 2 == 0 else "system", tuple(tags.split())) for k, tags in enumerate(rounds))
    return TagSequence(name, tuple(spoken))


# Round 0: battery 4, issues 3, refund 2, link 1. battery takes a, b, c, e; of the others d and f refund takes both.
EXAMPLE = (
    talk("a", "issues battery", "link", "thank"),
    talk("b", "battery issues", "link", "thank"),
    talk("c", "battery", "link"),
    talk("d", "refund", "link", "thank"),
    talk("e", "battery", "store"),
    talk("f", "refund issues", "link", "bye"),
)


def paths(automaton: Automaton) -> dict[str, tuple[str, ...]]:
    """The dialogues of each state of a tree by the tags that lead there."""
    found = {0: ""}
    for source, name, target, _ in automaton.transitions:
        found[target] = f"{found[source]} {name.partition(':')[2]}".strip()
    return {path: automaton.dialogue_ids(state) for state, path in found.items()}


def test_that_the_tree_of_the_example_is_the_one_worked_by_hand() -> None:
    tree = learn_paper(EXAMPLE, tau=0, threshold=1.0)

    assert paths(tree) == {
        "": ("a", "b", "c", "d", "e", "f"),
        "battery": ("a", "b", "c", "e"),
        "battery issues": ("a", "b"),
        "battery issues link": ("a", "b"),
        "battery issues link thank": ("a", "b"),
        "battery link": ("c",),
        "battery store": ("e",),
        "refund": ("d", "f"),
        "refund link": ("d",),
        "refund link thank": ("d",),
        "refund issues": ("f",),
        "refund issues link": ("f",),
        "refund issues link bye": ("f",),
    }
    assert [tree.dialogue_ids(state.id) for state in tree.states if state.accept] == [
        ("c",),
        ("e",),
        ("d",),
        ("a", "b"),
        ("f",),
    ]


def test_that_merging_unites_the_duplicated_ends_of_the_example() -> None:
    """link > thank occurs under two states; they share the tag link, and their phi_sim is worked by hand below."""
    merged = learn_paper(EXAMPLE, tau=0, threshold=0.5)

    # (battery issues) -link-> 2, (refund issues) -link-> 1: phi = 2*1 / (2*1) = 1, so they are one state, and so are
    # their children on link, which then lead to thank (2) and bye (1). battery: link 1, store 1, issues 2 of 4.
    # refund: link 1, issues 1 of 2. phi(battery, refund) = (1*1 + 2*1) / (4*2) = 3/8, below the threshold.
    # (battery issues link) -thank-> 2 with (refund link) -thank-> 1: phi = 1; then its class has thank and bye.
    start = merged.step(0, "user:battery")
    assert start is not None
    issues = merged.step(start, "user:issues")
    assert issues is not None
    assert merged.dialogue_ids(issues) == ("a", "b", "f")
    link = merged.step(issues, "system:link")
    assert link is not None
    assert merged.dialogue_ids(link) == ("a", "b", "d", "f")
    assert sorted(merged.outgoing(link)) == ["user:bye", "user:thank"]
    assert len(merged) == 13 - 4


def test_that_a_state_splits_only_above_tau() -> None:
    tree = learn_paper(EXAMPLE, tau=2, threshold=1.0)

    assert sorted(paths(tree)) == ["", "battery", "battery issues", "refund"]
    assert all(not state.accept for state in tree.states)


def test_that_ties_go_to_the_first_tag_in_spelling() -> None:
    tree = learn_paper([talk("a", "y x"), talk("b", "x y")], tau=0, threshold=1.0)

    assert sorted(paths(tree)) == ["", "x", "x y"]


def test_that_counts_are_renewed_after_each_choice() -> None:
    """p is chosen first; what is left of q (1) is then rarer than r (2), although q was more frequent at first."""
    spoken = ["p q", "p q", "p q", "p", "q r", "r"]
    tree = learn_paper([talk(f"d{k}", tags) for k, tags in enumerate(spoken)], tau=0, threshold=1.0)

    assert sorted(paths(tree)) == ["", "p", "p q", "r", "r q"]


def test_that_the_same_tag_of_two_roles_is_two_symbols() -> None:
    tree = learn_paper([talk("a", "address", "address")], tau=0)

    assert [(state.role, state.tag) for state in tree.states] == [("", ""), ("user", "address"), ("system", "address")]


def test_that_neighbouring_rounds_of_one_role_stay_deterministic() -> None:
    twice = TagSequence("a", (Round("tool", ("look",)), Round("tool", ("hit",))))
    once = TagSequence("b", (Round("tool", ("look", "hit")),))
    automaton = learn_paper([twice, once], tau=0, threshold=1.0)

    look = automaton.step(0, "tool:look") or automaton.step(0, "tool:hit")
    assert look is not None
    assert automaton.states[look].count == 2


def test_that_a_round_without_tags_leaves_its_dialogue_where_it_stands() -> None:
    tree = learn_paper([talk("a", "", "link"), talk("b", "hello", "")], tau=0, threshold=1.0)

    assert sorted(paths(tree)) == ["", "hello", "link"]
    assert [state.ends for state in tree.states] == [0, 1, 1]


def test_that_a_merge_share_stops_where_it_is_reached() -> None:
    whole = learn_paper(EXAMPLE, tau=0, threshold=1.0)
    few = learn_paper(EXAMPLE, tau=0, merge_share=0.05)
    none = learn_paper(EXAMPLE, tau=0, merge_share=0.0)

    assert len(none) == len(whole)
    assert len(whole) - 4 <= len(few) < len(whole)


def test_that_names_are_readable_and_unique() -> None:
    tree = learn_paper(EXAMPLE, tau=0, threshold=1.0)

    names = [state.name for state in tree.states]
    assert len(set(names)) == len(names)
    assert {"start", "user:battery", "system:link", "system:link (2)"} <= set(names)


def test_that_metadata_says_how_it_was_learned() -> None:
    automaton = learn_paper(EXAMPLE, tau=1, merge_share=0.05)

    assert automaton.metadata["strategy"] == "paper"
    assert automaton.metadata["tau"] == 1
    assert automaton.metadata["roles"] == ["usu", "usu", "us", "usu", "us", "usu"]


def test_that_nothing_to_learn_is_said() -> None:
    with pytest.raises(NothingToLearn):
        learn_paper([])


def test_that_dialogues_without_rounds_are_kept_at_the_start() -> None:
    automaton = learn_paper([TagSequence("a", ())])

    assert (len(automaton), automaton.states[0].ends, automaton.dialogue_ids(0)) == (1, 1, ("a",))


def test_that_two_dialogues_of_one_id_are_refused() -> None:
    with pytest.raises(UsageError, match="'a'"):
        learn_paper([talk("a", "x"), talk("a", "y")])


@pytest.mark.parametrize("settings", [{"tau": -1}, {"threshold": 1.5}, {"merge_share": 1.0}, {"merge_share": -0.1}])
def test_that_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="must be"):
        learn_paper(EXAMPLE, **settings)  # type: ignore[arg-type]


def test_that_passages_know_their_round() -> None:
    automaton = learn_paper(EXAMPLE, tau=0, threshold=1.0)

    assert [visit.round for visit in automaton.visits(0)] == [-1] * 6
    tree = build_tree(encode(EXAMPLE), tau=0)
    assert int(tree.ends.sum()) == len(EXAMPLE)
