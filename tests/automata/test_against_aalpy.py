"""Learned languages against AALpy, an independent automata library, on small cases."""

from __future__ import annotations

from itertools import product

from aalpy.automata import Dfa, DfaState
from aalpy.learning_algs import run_RPNI
from aalpy.learning_algs.deterministic_passive.rpni_helper_functions import createPTA, to_automaton
from aalpy.utils import bisimilar
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.automata import Automaton, Round, TagSequence, learn_paper

Word = tuple[str, ...]

WORDS = st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(tuple), min_size=1, max_size=12)


def sequences(words: set[Word]) -> list[TagSequence]:
    """One tag a round; user and system alternate."""
    return [
        TagSequence(f"d{n}", tuple(Round(("user", "system")[k % 2], (tag,)) for k, tag in enumerate(word)))
        for n, word in enumerate(sorted(words))
    ]


def symbols(word: Word) -> Word:
    return tuple(f"{('user', 'system')[k % 2]}:{tag}" for k, tag in enumerate(word))


def to_dfa(automaton: Automaton) -> Dfa:
    states = [DfaState(state.name, state.accept) for state in automaton.states]
    for source, name, target, _ in automaton.transitions:
        states[source].transitions[name] = states[target]
    return Dfa(states[0], states)


def accepts(automaton: Automaton, word: Word) -> bool:
    state: int | None = 0
    for name in word:
        state = automaton.step(state, name) if state is not None else None
    return state is not None and automaton.states[state].accept


def prefix_tree(words: set[Word]) -> Dfa:
    """AALpy's prefix tree acceptor of exactly these words."""
    prefixes = {symbols(word)[:k] for word in words for k in range(len(word) + 1)}
    spelled = {symbols(word) for word in words}
    root = createPTA([(prefix, prefix in spelled) for prefix in prefixes], "dfa")
    nodes, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(node.children.values())
    return to_automaton([root, *(node for node in nodes if node is not root)], "dfa")


@settings(max_examples=60, deadline=None)
@given(WORDS)
def test_that_a_tag_tree_is_the_prefix_tree_of_its_dialogues(words: set[Word]) -> None:
    tree = to_dfa(learn_paper(sequences(words), tau=0, threshold=1.0))

    assert bisimilar(tree, prefix_tree(words))


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_that_a_tag_tree_tells_what_rpni_was_told(words: set[Word]) -> None:
    """RPNI from all words up to a length, labelled by membership, agrees with the tree on every one of them."""
    tree = learn_paper(sequences(words), tau=0, threshold=1.0)
    spelled = {symbols(word) for word in words}
    every = [symbols(word) for length in range(1, 4) for word in product("abc", repeat=length)]
    every += [word for word in spelled if len(word) > 3]
    learned = run_RPNI([(word, word in spelled) for word in every], "dfa", print_info=False)

    for word in every:
        assert accepts(tree, word) == (word in spelled)
        if all(name in state.transitions for state, name in walked(learned, word)):
            assert learned.execute_sequence(learned.initial_state, word)[-1] == accepts(tree, word)


def walked(dfa: Dfa, word: Word) -> list[tuple[DfaState, str]]:
    """The states of a run with the symbol read there, up to the first that cannot be read."""
    state, passed = dfa.initial_state, []
    for name in word:
        passed.append((state, name))
        if name not in state.transitions:
            break
        state = state.transitions[name]
    return passed


@settings(max_examples=60, deadline=None)
@given(WORDS, st.sampled_from([0.0, 0.1, 0.5]))
def test_that_a_merged_automaton_accepts_every_word_of_the_prefix_tree(words: set[Word], threshold: float) -> None:
    merged = to_dfa(learn_paper(sequences(words), tau=0, threshold=threshold))

    for word in words:
        assert merged.execute_sequence(merged.initial_state, symbols(word))[-1]


def test_that_merging_finds_the_loop_of_figure_2() -> None:
    """ab, abab and ababab become (ab)+: the states after a have phi 1, folding unites the states after b."""
    words: set[Word] = {("a", "b") * times for times in (1, 2, 3)}
    start, said_a, said_b = DfaState("start"), DfaState("a"), DfaState("b", True)
    start.transitions = {"user:a": said_a}
    said_a.transitions = {"system:b": said_b}
    said_b.transitions = {"user:a": said_a}

    merged = to_dfa(learn_paper(sequences(words), tau=0, threshold=0.5))
    assert bisimilar(merged, Dfa(start, [start, said_a, said_b]))
    assert len(merged.states) == 3
