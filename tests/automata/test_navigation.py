from __future__ import annotations

from dataclasses import replace

from dialoom.automata import Candidate, NavigationRouter, Position, Round, Router, TagSequence, learn_paper
from dialoom.automata.navigation import Mismatch


def talk(name: str, *rounds: str) -> TagSequence:
    spoken = (Round("user" if k % 2 == 0 else "system", tuple(tags.split())) for k, tags in enumerate(rounds))
    return TagSequence(name, tuple(spoken))


DIALOGUES = (
    talk("a", "battery issues", "link", "thank", "bye"),
    talk("b", "battery issues", "link", "thank"),
    talk("c", "battery", "store", "thank", "bye"),
    talk("d", "refund", "form", "thank"),
)
AUTOMATON = learn_paper(DIALOGUES, tau=0, threshold=1.0)


def user(*tags: str) -> Round:
    return Round("user", tags)


def system(*tags: str) -> Round:
    return Round("system", tags)


def test_that_it_is_a_router() -> None:
    assert isinstance(NavigationRouter(AUTOMATON), Router)


def test_that_tags_are_taken_most_travelled_first() -> None:
    route = NavigationRouter(AUTOMATON).route([user("issues", "battery")])

    assert [step.symbol for step in route.path] == ["user:battery", "user:issues"]
    assert all(step.known and step.round == 0 for step in route.path)
    assert (route.fallback, route.reason, route.confidence) == (None, "", 1.0)
    assert route.next_tags == (("link", 1.0),)


def test_that_next_tags_are_shares_of_system_traffic() -> None:
    route = NavigationRouter(AUTOMATON).route([user("battery")])

    assert route.next_tags == (("store", 1.0),)
    merged = learn_paper([talk("a", "x", "p"), talk("b", "x", "p"), talk("c", "x", "q")], tau=0)
    assert NavigationRouter(merged).route([user("x")]).next_tags == (("p", 2 / 3), ("q", 1 / 3))


def test_that_a_mismatch_ends_navigation_at_the_last_valid_state() -> None:
    router = NavigationRouter(AUTOMATON)
    route = router.route([user("battery", "nba"), system("store"), user("thank")])

    assert AUTOMATON.states[route.state].name == "user:battery"
    assert route.fallback == "out_of_distribution"
    assert "'user:nba'" in route.reason
    assert "round 0" in route.reason
    assert route.confidence == 0.0


def test_that_a_lenient_router_skips_tags_beside_known_ones() -> None:
    router = NavigationRouter(AUTOMATON, lenient=True)

    followed = router.route([user("battery", "nba"), system("store")])
    assert followed.fallback is None
    assert AUTOMATON.states[followed.state].tag == "store"
    stopped = router.route([user("battery"), system("weather")])
    assert stopped.fallback == "out_of_distribution"


def test_that_the_same_tag_of_another_role_does_not_match() -> None:
    route = NavigationRouter(AUTOMATON).route([system("battery")])

    assert (route.state, route.fallback) == (0, "out_of_distribution")


def test_that_an_external_tool_can_be_asked_on_a_mismatch() -> None:
    asked: list[Mismatch] = []

    def search(mismatch: Mismatch) -> str:
        asked.append(mismatch)
        return "The web knows of NBA tickets."

    router = NavigationRouter(AUTOMATON, on_mismatch=search)
    assert router.route([user("battery")]).reason == ""
    route = router.route([user("nba")])

    assert asked == [Mismatch(0, 0, ("user:nba",))]
    assert route.reason.endswith("The web knows of NBA tickets.")


def test_that_a_position_advances_by_one_round() -> None:
    router = NavigationRouter(AUTOMATON)
    rounds = [user("battery", "issues"), system("link"), user("surprise"), system("bye")]
    position = Position()

    for count, spoken in enumerate(rounds, 1):
        position = router.advance(position, spoken)
        assert router.at(position) == router.route(rounds[:count])


def test_that_candidates_are_the_system_turns_that_follow() -> None:
    router = NavigationRouter(AUTOMATON)

    after_user = router.candidates(router.route([user("battery", "issues")]))
    assert list(after_user) == [Candidate("a", 1), Candidate("b", 1)]
    # b ends with the user's thank: nothing follows there.
    after_thank = router.candidates(router.route([user("battery", "issues"), system("link"), user("thank")]))
    assert list(after_thank) == [Candidate("a", 3)]
    # At a state of the system the user speaks first; the next system turn comes after that.
    after_system = router.candidates(router.route([user("battery"), system("store")]))
    assert list(after_system) == [Candidate("c", 3)]
    start = router.candidates(router.route([]))
    assert [candidate.dialogue_id for candidate in start] == ["a", "b", "c", "d"]
    assert list(start[1:3]) == [start[1], start[2]]


def test_that_a_round_without_tags_moves_nothing() -> None:
    router = NavigationRouter(AUTOMATON)

    assert router.route([user(), system()]).state == 0
    assert router.route([user(), system()]).fallback is None


def test_that_a_predictive_automaton_reads_the_first_tag_of_a_round() -> None:
    sequences = [TagSequence(name, (user("hello"), Round("system", ("",)), user("bye"))) for name in ("a", "b")]
    automaton = replace(learn_paper(sequences, tau=0), metadata={"strategy": "predictive"})

    route = NavigationRouter(automaton).route([user("hello", "surprise"), system(), user("bye")])
    assert [step.symbol for step in route.path] == ["user:hello", "system:", "user:bye"]
    assert route.fallback is None
    assert list(NavigationRouter(automaton).candidates(route)) == [Candidate("a", 3), Candidate("b", 3)]
