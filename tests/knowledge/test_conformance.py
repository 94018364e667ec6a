"""Every adapter of the knowledge ports passes the suite of its port."""

from __future__ import annotations

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.knowledge import (
    AlwaysPlanner,
    CallSource,
    EncoderRelevance,
    EvidencePlanner,
    EvidenceSettings,
    IndexedSource,
    LabelledTurn,
    LexicalConsistency,
    LexicalRelevance,
    Memory,
    MemorySource,
    NeverPlanner,
    Passage,
    PassageIndex,
    PromptedConsistency,
    PromptedPlanner,
    PromptedRelevance,
    RankerSettings,
    RulePlanner,
    TextPlanner,
)
from dialoom.knowledge.ranking.trees import Growth
from dialoom.testing.knowledge import (
    ConsistencyConformance,
    PlannerConformance,
    RelevanceConformance,
    SourceConformance,
)

from .doubles import Answers, LetterEncoder

PASSAGES = [
    Passage("boots", "We sell blue boots."),
    Passage("hats", "We sell hats."),
    Passage("note", "Ann likes blue boots.", owner="ann"),
]


class TestIndexedSource(SourceConformance):
    def make(self) -> IndexedSource:
        return IndexedSource("SHOP", "what we sell", PASSAGES)


class TestExhaustiveSource(SourceConformance):
    def make(self) -> IndexedSource:
        return IndexedSource("SHOP", "what we sell", PASSAGES, exhaustive=True)


class TestFusedSource(SourceConformance):
    def make(self) -> IndexedSource:
        index = PassageIndex(encoder=LetterEncoder())
        index.replace(PASSAGES)
        return IndexedSource("SHOP", "what we sell", index)


class TestCallSource(SourceConformance):
    def make(self) -> CallSource:
        return CallSource("SHOP", "what we sell", lambda query, n: [{"id": p.id, "text": p.text} for p in PASSAGES[:2]])


class TestMemorySource(SourceConformance):
    def make(self) -> MemorySource:
        memory = Memory()
        memory.remember("ann", "colour", "blue", "Ann likes blue.")
        return MemorySource("MEMORY", "what the user said", memory)


class TestAlwaysPlanner(PlannerConformance):
    def make(self) -> AlwaysPlanner:
        return AlwaysPlanner()


class TestNeverPlanner(PlannerConformance):
    def make(self) -> NeverPlanner:
        return NeverPlanner()


class TestRulePlanner(PlannerConformance):
    def make(self) -> RulePlanner:
        return RulePlanner({})


class TestPromptedPlanner(PlannerConformance):
    def make(self) -> PromptedPlanner:
        return PromptedPlanner(Answers('{"sources": ["CARE"]}', "what?"))


def turns() -> list[LabelledTurn]:
    shop, care = Passage("boot", "Blue boots cost 90 euros."), Passage("grease", "Grease boots.", parents=("boot",))
    hat, wash = Passage("hat", "Hats cost 20 euros."), Passage("wash", "Wash hats by hand.", parents=("hat",))
    pools = {"SHOP": [shop, hat], "CARE": [care, wash]}
    said = [
        ("thanks", (), {}),
        ("price of boots", ("SHOP",), {"SHOP": frozenset({"boot"})}),
        ("care of hats", ("SHOP", "CARE"), {"SHOP": frozenset({"hat"}), "CARE": frozenset({"wash"})}),
    ]
    return [
        LabelledTurn(Dialogue(f"d{i}", (Utterance(Role.USER, text),)), pools, plan, gold, "ok")
        for i in range(20)
        for text, plan, gold in said
    ]


class TestTextPlanner(PlannerConformance):
    def make(self) -> TextPlanner:
        return TextPlanner.fit(turns())


class TestEvidencePlanner(PlannerConformance):
    def make(self) -> EvidencePlanner:
        growth = Growth(rounds=3, least=2)
        return EvidencePlanner.fit(turns(), EvidenceSettings(RankerSettings(models=1, growth=growth), growth=growth))


class TestLexicalRelevance(RelevanceConformance):
    def make(self) -> LexicalRelevance:
        return LexicalRelevance()


class TestEncoderRelevance(RelevanceConformance):
    def make(self) -> EncoderRelevance:
        return EncoderRelevance(LetterEncoder())


class TestPromptedRelevance(RelevanceConformance):
    def make(self) -> PromptedRelevance:
        return PromptedRelevance(Answers('{"scores": [0.1, 0.9, 0.0, 1.0, 0.5]}'))


class TestLexicalConsistency(ConsistencyConformance):
    def make(self) -> LexicalConsistency:
        return LexicalConsistency()


class TestPromptedConsistency(ConsistencyConformance):
    def make(self) -> PromptedConsistency:
        return PromptedConsistency(Answers('{"consistency": 0.4}', "no"))
