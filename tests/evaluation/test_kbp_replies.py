from __future__ import annotations

from collections.abc import Sequence

import pytest

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.evaluation.kbp import bm25_first
from dialoom.evaluation.kbp_consistency import Judge, accuracy, fitted_judge
from dialoom.evaluation.kbp_replies import (
    NO_MASK,
    REFINEMENTS,
    ROWS,
    TABLES,
    WITH_BM25,
    WITH_LEARNED,
    Ranked,
    bleu_1,
    reply_rows,
    rouge_l,
    with_bm25,
)
from dialoom.knowledge import (
    Evidence,
    ExtractiveReader,
    LabelledTurn,
    LexicalConsistency,
    Passage,
    Query,
    RememberingReader,
)


def test_that_bleu_1_is_clipped_precision_with_a_brevity_penalty() -> None:
    assert bleu_1(["abc"], ["abc"]) == 1.0
    assert bleu_1(["aaa"], ["abc"]) == pytest.approx(1 / 3)
    assert bleu_1(["ab"], ["abcd"]) == pytest.approx(0.36788, abs=1e-4)
    assert bleu_1([""], ["abc"]) == 0.0


def test_that_rouge_l_is_the_f1_of_the_longest_common_subsequence() -> None:
    assert rouge_l("abcde", "ace") == pytest.approx(2 * 3 / 8)
    assert rouge_l("xyz", "abc") == 0.0
    assert rouge_l("a b", "ab") == 1.0


def test_that_both_agree_with_the_reference_packages() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    rouge = pytest.importorskip("rouge_score.rouge_scorer")
    replies, gold = ["我喜欢红色的猫", "茶很好"], ["我喜欢黑色的猫", "茶真的很好喝"]
    bleu = sacrebleu.metrics.BLEU(max_ngram_order=1, tokenize="char", smooth_method="none")
    assert 100 * bleu_1(replies, gold) == pytest.approx(bleu.corpus_score(replies, [gold]).score, abs=1e-6)

    class Characters:
        def tokenize(self, text: str) -> list[str]:
            return list(text)

    scorer = rouge.RougeScorer(["rougeL"], tokenizer=Characters())
    for said, wanted in zip(replies, gold, strict=True):
        assert rouge_l(said, wanted) == pytest.approx(scorer.score(wanted, said)["rougeL"].fmeasure)


def world() -> list[Ranked]:
    """A turn that needs both sources and is ranked wrongly, and one that needs none and is planned so."""
    cats, tea = Passage("B0", "我喜欢猫"), Passage("B1", "我喜欢茶")
    black, cheap = Passage("B0-K0", "猫是黑色的", parents=("B0",)), Passage("B1-K0", "茶很便宜", parents=("B1",))
    pools = {"PERSONA": [cats, tea], "DOCUMENTS": [black, cheap]}
    found = {
        "PERSONA": [Evidence("PERSONA", tea, 0.9, 0.9), Evidence("PERSONA", cats, 0.1, 0.1)],
        "DOCUMENTS": [Evidence("DOCUMENTS", cheap, 0.9, 0.9), Evidence("DOCUMENTS", black, 0.1, 0.1)],
    }
    both = ("PERSONA", "DOCUMENTS")
    asked = Dialogue("a", (Utterance(Role.USER, "猫是什么颜色"),))
    gold = {"PERSONA": frozenset({"B0"}), "DOCUMENTS": frozenset({"B0-K0"})}
    first = LabelledTurn(asked, pools, both, gold, "我喜欢猫 猫是黑色的")
    second = LabelledTurn(Dialogue("b", (Utterance(Role.USER, "谢谢"),)), pools, (), {}, "不客气")
    return [Ranked(first, both, found), Ranked(second, (), found)]


def judge() -> Judge:
    return Judge(LexicalConsistency(), {"PERSONA": 0.9, "DOCUMENTS": 0.9})


async def test_that_grounding_helps_and_every_row_is_there() -> None:
    reader = ExtractiveReader(small_talk="不客气")
    turns = world()
    others = {WITH_LEARNED: (turns, reader), NO_MASK: (turns, reader), WITH_BM25: (turns, reader)}
    rows = await reply_rows(turns, reader, judge(), others=others)
    assert set(rows) == {*ROWS, *REFINEMENTS, *others} == {name for names in TABLES.values() for name in names}
    assert rows["ground_both"].bleu_1 == pytest.approx(100)
    assert rows["ground_both"].knowledge_consistency == 100
    assert rows["planned"].knowledge_consistency == 50
    assert rows["planned"].bleu_1 < rows["ground_retrieval"].bleu_1 == pytest.approx(100)
    assert rows["always"].bleu_1 < rows["planned"].bleu_1
    assert rows["planned"] == rows[WITH_LEARNED]


async def test_that_consistency_counts_sources_called_in_vain_and_not_called_as_the_paper_does() -> None:
    rows = await reply_rows(world(), ExtractiveReader(), judge())
    assert rows["never"].persona_consistency == rows["never"].knowledge_consistency == 50  # the turn that needs none
    assert rows["always"].persona_consistency == rows["always"].knowledge_consistency == 0  # wrong, and in vain


async def test_that_a_reader_is_not_asked_the_same_twice() -> None:
    class Counting(ExtractiveReader):
        asked = 0

        async def read(self, query: Query, evidence: Sequence[Evidence]) -> str:
            Counting.asked += 1
            return await super().read(query, evidence)

    await reply_rows(world(), Counting(), judge())
    assert Counting.asked < len(ROWS) * 2


async def test_that_bm25_puts_its_own_candidate_first() -> None:
    pytest.importorskip("jieba", reason="the BM25 row needs the extra 'chinese'")
    (before, _) = world()
    (first,) = with_bm25([before])
    best = bm25_first(before.turn)
    for source, evidence in first.found.items():
        assert evidence[0].passage is before.turn.pools[source][best[source]]
        assert len(evidence) == 2
    assert first.plan == ("PERSONA", "DOCUMENTS")


async def test_that_a_judge_learns_what_counts_as_agreement() -> None:
    (turn, _) = (r.turn for r in world())
    fitted = await fitted_judge(LexicalConsistency(), [turn])
    assert set(fitted.thresholds) == {"PERSONA", "DOCUMENTS"}
    assert await fitted.agrees("PERSONA", "我喜欢猫", ["我喜欢猫", "茶很便宜"])
    assert not await fitted.agrees("DOCUMENTS", "你好", ["猫是黑色的"])
    assert await accuracy(fitted, [turn]) == {"PERSONA": 100, "DOCUMENTS": 100}


async def test_that_turns_without_evidence_are_answered_as_like_turns_were() -> None:
    (asked, thanked) = (r.turn for r in world())
    reader = RememberingReader([asked, thanked], ExtractiveReader(small_talk="?"))
    assert await reader.read(Query(Dialogue("c", (Utterance(Role.USER, "太谢谢了"),))), ()) == "不客气"
    assert await reader.read(Query(Dialogue("c", (Utterance(Role.USER, "hm"),))), ()) == "?"
    assert await reader.read(Query(asked.context), [Evidence("PERSONA", Passage("x", "我喜欢猫"), 1.0)]) == "我喜欢猫"
