from __future__ import annotations

import pytest

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.evaluation.kbp_replies import REFINEMENTS, ROWS, Ranked, bleu_1, reply_rows, rouge_l
from dialoom.knowledge import Evidence, ExtractiveReader, LabelledTurn, LexicalConsistency, Passage


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


async def test_that_grounding_helps_and_every_row_is_there() -> None:
    reader = ExtractiveReader(small_talk="不客气")
    rows = await reply_rows(world(), reader, LexicalConsistency())
    assert set(rows) == {*ROWS, *REFINEMENTS}
    assert rows["ground_both"].bleu_1 == pytest.approx(100)
    assert rows["ground_both"].knowledge_consistency == 100
    assert rows["planned"].knowledge_consistency == 0
    assert rows["planned"].bleu_1 < rows["ground_retrieval"].bleu_1 == pytest.approx(100)
    assert rows["always"].bleu_1 < rows["planned"].bleu_1
    assert rows["never"].persona_consistency == 0
