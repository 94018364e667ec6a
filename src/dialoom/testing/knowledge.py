"""What every knowledge source, planner and scorer must do. Inherit a suite, define `make`; pytest collects it."""

from __future__ import annotations

import asyncio

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.knowledge.base import (
    ConsistencyScorer,
    Evidence,
    Passage,
    Planner,
    Query,
    RelevanceScorer,
    Source,
)
from dialoom.knowledge.order import feasible
from dialoom.knowledge.sources import IndexedSource


def query(text: str, user: str = "") -> Query:
    """A query of one user turn."""
    return Query(Dialogue("suite", (Utterance(Role.USER, text),)), user)


QUERIES: tuple[Query, ...] = (
    query("do you sell blue boots?"),
    query("xyzzy plugh", user="nobody-knows-me"),
    query(""),
    Query(Dialogue("begun-by-the-system", (Utterance(Role.SYSTEM, "Hello, how can I help?"),))),
    Query(Dialogue("not-begun", ())),
)
"""Turns like and unlike anything, of a user and of nobody, and conversations in which the user has not spoken."""

EVIDENCE: tuple[Evidence, ...] = tuple(
    Evidence("SHOP", Passage(f"e{i}", text), 1.0)
    for i, text in enumerate(
        ("Blue boots cost 90 euros.", "We open at nine.", "", "Hats!", "Blue boots cost 90 euros.")
    )
)
"""Pieces to weigh: fitting, unrelated, empty, and one twice."""


class SourceConformance:
    """The laws of `dialoom.knowledge.Source`. `make` gives a source that can be asked."""

    def make(self) -> Source:
        """A new source."""
        raise NotImplementedError("define make() in the class that inherits SourceConformance")

    def test_that_it_is_a_source_with_a_token_for_a_name(self) -> None:
        """Plans call it by an upper-case identifier that is not NULL."""
        source = self.make()
        assert isinstance(source, Source)
        assert source.name.isidentifier()
        assert source.name == source.name.upper() != "NULL"

    def test_that_at_most_n_pieces_come_best_first(self) -> None:
        """Never more than asked for, none for 0, scores falling."""
        source = self.make()
        for asked in QUERIES:
            for n in (0, 1, 5):
                found = source.search(asked, n)
                assert len(found) <= n
                assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)

    def test_that_evidence_names_its_source_and_ids_are_distinct(self) -> None:
        """So that a reply can cite it."""
        source = self.make()
        for asked in QUERIES:
            found = source.search(asked, 10)
            assert all(e.source == source.name for e in found)
            assert len({e.id for e in found}) == len(found)

    def test_that_nothing_of_another_user_comes(self) -> None:
        """What is owned is its owner's alone."""
        source = self.make()
        for asked in QUERIES:
            assert all(e.passage.owner in ("", asked.user) for e in source.search(asked, 10))

    def test_that_the_same_question_gives_the_same_evidence(self) -> None:
        """Asking changes nothing."""
        source = self.make()
        for asked in QUERIES:
            assert list(source.search(asked, 5)) == list(source.search(asked, 5))


class PlannerConformance:
    """The laws of `dialoom.knowledge.Planner`. `make` gives a planner for the sources SHOP and CARE (needs SHOP)."""

    def make(self) -> Planner:
        """A new planner."""
        raise NotImplementedError("define make() in the class that inherits PlannerConformance")

    def sources(self) -> list[Source]:
        """Two sources, the first depending on the second."""
        shop = IndexedSource("SHOP", "What we sell.", [Passage("boot", "Blue boots cost 90 euros.")])
        grease = Passage("boot-care", "Grease boots twice a year.", parents=("boot",))
        return [IndexedSource("CARE", "How to look after it.", [grease], depends_on=["SHOP"]), shop]

    def test_that_every_plan_can_be_carried_out(self) -> None:
        """Only sources there are, each once, after those it depends on; whatever was said."""
        planner, sources = self.make(), self.sources()
        for asked in QUERIES:
            plan = asyncio.run(planner.plan(asked, sources))
            assert feasible(plan.sources, sources)
            assert len(set(plan.sources)) == len(plan.sources)

    def test_that_without_sources_nothing_is_planned(self) -> None:
        """NULL is the only plan left."""
        for asked in QUERIES:
            assert asyncio.run(self.make().plan(asked, [])).sources == ()


class RelevanceConformance:
    """The laws of `dialoom.knowledge.RelevanceScorer`."""

    def make(self) -> RelevanceScorer:
        """A new scorer."""
        raise NotImplementedError("define make() in the class that inherits RelevanceConformance")

    def test_that_each_piece_gets_a_score_in_tenths(self) -> None:
        """One of 0.0, 0.1, ... 1.0 each, in order; none for nothing."""
        tenths = [i / 10 for i in range(11)]
        for asked in QUERIES:
            scores = asyncio.run(self.make().relevance(asked, EVIDENCE))
            assert len(scores) == len(EVIDENCE)
            assert all(score in tenths for score in scores)
            assert asyncio.run(self.make().relevance(asked, ())) == []


class ConsistencyConformance:
    """The laws of `dialoom.knowledge.ConsistencyScorer`."""

    def make(self) -> ConsistencyScorer:
        """A new scorer."""
        raise NotImplementedError("define make() in the class that inherits ConsistencyConformance")

    def test_that_each_text_gets_a_score_between_0_and_1(self) -> None:
        """In order, whatever the reply; none for nothing."""
        texts = [found.text for found in EVIDENCE]
        for reply in ("Blue boots cost 90 euros.", "", "?!"):
            scores = asyncio.run(self.make().consistency(reply, texts))
            assert len(scores) == len(texts)
            assert all(0.0 <= score <= 1.0 for score in scores)
            assert asyncio.run(self.make().consistency(reply, [])) == []
