from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from dialoom.dialogue import Dialogue, Role, Utterance  # noqa: E402
from dialoom.errors import InvalidFile, UsageError  # noqa: E402
from dialoom.knowledge.base import Evidence, Passage, Query  # noqa: E402
from dialoom.knowledge.labelled import LabelledTurn  # noqa: E402
from dialoom.knowledge.relevance import LexicalRelevance  # noqa: E402
from dialoom.knowledge.unified.examples import unified_examples  # noqa: E402
from dialoom.knowledge.unified.masks import attention_mask, encoder_mask  # noqa: E402
from dialoom.knowledge.unified.model import UnifiedModel  # noqa: E402
from dialoom.knowledge.unified.sequences import REPLY, SCORE_LOSS, TokenSequence, Weighed  # noqa: E402
from dialoom.knowledge.unified.settings import UnifiedSettings, read_settings  # noqa: E402
from dialoom.knowledge.unified.training import losses, train_unified, with_lora  # noqa: E402
from dialoom.knowledge.unified.using import UnifiedPlanner, UnifiedReader, UnifiedRelevance  # noqa: E402
from dialoom.training.settings import LoraSettings  # noqa: E402

from ..doubles import Fixed  # noqa: E402

THINGS = ["chess", "tea", "boats", "cats"]
WORDS = "User Agent : do you like ? thanks sure I what of is it red".split() + THINGS  # noqa: SIM905
SOURCES = ("PERSONA", "DOCUMENTS")


def toy(number: int, seed: int) -> list[LabelledTurn]:
    chance = random.Random(seed)
    turns = []
    for i in range(number):
        persona = [Passage(f"p{k}", f"I like {thing}") for k, thing in enumerate(THINGS)]
        documents = [Passage(f"d{k}", f"{thing} is red", parents=(f"p{k}",)) for k, thing in enumerate(THINGS)]
        k, kind = chance.randrange(4), chance.randrange(3)
        text = ["thanks", f"do you like {THINGS[k]} ?", f"what of {THINGS[k]} ?"][kind]
        reply = ["sure", f"I like {THINGS[k]}", f"{THINGS[k]} is red"][kind]
        gold = {"PERSONA": frozenset({f"p{k}"}), "DOCUMENTS": frozenset({f"d{k}"})}
        plan = SOURCES[:kind]
        turns.append(
            LabelledTurn(
                Dialogue(f"{seed}-{i}", (Utterance(Role.USER, text),)),
                {"PERSONA": persona, "DOCUMENTS": documents},
                plan,
                {source: gold[source] for source in plan},
                reply,
            )
        )
    return turns


@pytest.fixture(scope="module", params=["causal", "seq2seq"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny randomly initialised Llama or T5 and a tokenizer of whole words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import (
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
        T5Config,
        T5ForConditionalGeneration,
    )

    torch.manual_seed(0)
    vocabulary = {word: i for i, word in enumerate(["<unk>", "</s>", "<pad>", *WORDS])}
    words = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="</s>", pad_token="<pad>")
    size = {"vocab_size": len(vocabulary), "eos_token_id": 1, "pad_token_id": 2}
    path = tmp_path_factory.mktemp("tiny")
    if request.param == "causal":
        config = LlamaConfig(
            **size, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=128, bos_token_id=1,
        )  # fmt: skip
        LlamaForCausalLM(config).save_pretrained(path)
    else:
        config = T5Config(
            **size, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_decoder_layers=1, num_heads=4, dropout_rate=0.0,
            decoder_start_token_id=2,
        )  # fmt: skip
        T5ForConditionalGeneration(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def gguf(path: Path) -> Path:
    """A tiny random Llama with a byte-level tokenizer, as one GGUF file."""
    from gguf import GGUFWriter, TokenType

    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in printable]
    tokens = [*map(chr, printable), *(chr(256 + i) for i in range(len(rest))), "te", "<|end|>"]
    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(256)
    writer.add_embedding_length(16)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(8)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.NORMAL] * 257 + [TokenType.CONTROL])
    writer.add_token_merges(["t e"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(257)
    chance = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "attn_q": (16, 16),
        "attn_k": (16, 16),
        "attn_v": (16, 16),
        "attn_output": (16, 16),
    }
    shapes |= {"ffn_gate": (32, 16), "ffn_up": (32, 16), "ffn_down": (16, 32), "attn_norm": (16,), "ffn_norm": (16,)}
    tensors: dict[str, tuple[int, ...]] = {f"blk.0.{name}.weight": shape for name, shape in shapes.items()}
    tensors |= {"token_embd.weight": (len(tokens), 16), "output_norm.weight": (16,)}
    for name, shape in tensors.items():
        writer.add_tensor(name, chance.normal(0, 0.1, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def settings(folder: Path, out: Path, **more: Any) -> UnifiedSettings:
    values = {
        "model": str(folder),
        "train": ["-"],
        "dev": ["-"],
        "out": str(out),
        "rate": 5e-3,
        "batch": 16,
        "steps": 150,
    }
    return UnifiedSettings.model_validate({**values, "validate_every": 50, **more})


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> UnifiedModel:
    out = tmp_path_factory.mktemp("trained")
    model = UnifiedModel.start(folder, SOURCES)
    train = unified_examples(toy(300, 0), negatives=2, seed=0)
    train_unified(model, train, unified_examples(toy(30, 1), negatives=2, seed=0), settings(folder, out))
    return UnifiedModel.load(out / "best")


def test_that_the_tiny_model_learns_to_plan(trained: UnifiedModel) -> None:
    planner = UnifiedPlanner(trained)
    turns = toy(60, 2)
    right = [planner.acted(Query(turn.context), SOURCES) == turn.plan for turn in turns]
    assert sum(right) / len(right) > 0.95


async def test_that_it_plans_within_the_sources_at_hand(trained: UnifiedModel) -> None:
    turn = next(turn for turn in toy(20, 3) if len(turn.plan) == 2)
    plan = await UnifiedPlanner(trained).plan(Query(turn.context), [Fixed("PERSONA")])
    assert plan.sources == ("PERSONA",)


async def test_that_it_weighs_evidence_by_itself(trained: UnifiedModel) -> None:
    scorer = UnifiedRelevance(trained)
    hits = []
    for turn in (t for t in toy(60, 4) if t.plan):
        source = turn.plan[-1]
        pool = turn.pools[source]
        scores = scorer.expected(Query(turn.context), turn.plan, [p.text for p in pool])
        hits.append(pool[scores.index(max(scores))].id in turn.gold[source])
    assert sum(hits) / len(hits) > 0.9
    evidence = [Evidence("PERSONA", Passage("x", "I like tea"), 1.0)]
    (score,) = await scorer.relevance(Query(toy(1, 5)[0].context), evidence)
    assert score in [i / 10 for i in range(11)]


async def test_that_it_replies_from_the_evidence(trained: UnifiedModel) -> None:
    turns = [turn for turn in toy(30, 6) if len(turn.plan) == 1]
    right = []
    for turn in turns:
        (gold,) = turn.gold["PERSONA"]
        evidence = [Evidence("PERSONA", p, 1.0, float(p.id == gold)) for p in turn.pools["PERSONA"]]
        reply = await UnifiedReader(trained).read(Query(turn.context), evidence)
        right.append(reply == turn.reply)
    assert sum(right) / len(right) > 0.8


def _score_logits(model: UnifiedModel, evidence: list[str], piece: int) -> Any:
    turn = toy(1, 7)[0]
    built = model.sequences.training(turn.context, SOURCES, [Weighed(text, 0.5) for text in evidence], "sure")
    kept = [loss if loss == SCORE_LOSS else 0 for loss in built.losses]
    with torch.no_grad():
        return model.predictions([TokenSequence(built.ids, built.pieces, built.positions, kept)])[piece]


def test_that_a_score_does_not_change_with_the_other_evidence(trained: UnifiedModel) -> None:
    alone = _score_logits(trained, ["I like tea"], 0)
    for others in (["cats is red"], ["cats is red red red", "do you like boats"]):
        assert torch.allclose(_score_logits(trained, ["I like tea", *others], 0), alone, atol=1e-5)
    second = _score_logits(trained, ["cats is red", "I like tea"], 1)
    assert torch.allclose(
        _score_logits(trained, ["I like boats", "I like tea", "do you like cats"], 1), second, atol=1e-5
    )


def test_that_a_causal_score_does_not_even_depend_on_where_the_evidence_stands(trained: UnifiedModel) -> None:
    if trained.network.config.is_encoder_decoder:
        pytest.skip("an encoder's positions are those of the tokens as they stand")
    alone = _score_logits(trained, ["I like tea"], 0)
    assert torch.allclose(_score_logits(trained, ["cats is red red red", "I like tea"], 1), alone, atol=1e-5)


def test_that_without_the_mask_it_does_change(trained: UnifiedModel) -> None:
    open_ = replace(trained, masked=False)
    changed = _score_logits(open_, ["cats is red", "I like tea"], 1)
    assert not torch.allclose(changed, _score_logits(open_, ["I like boats", "I like tea"], 1), atol=1e-4)


def test_that_nothing_is_predicted_from_itself(trained: UnifiedModel) -> None:
    """A plan, a score and a reply word change no logits up to their own."""
    turn = next(turn for turn in toy(20, 8) if len(turn.plan) == 2)
    built = trained.sequences.training(turn.context, turn.plan, [Weighed("I like tea", 0.5)], "sure thanks")
    with torch.no_grad():
        before = trained.predictions([built])
        places = [i for i, loss in enumerate(built.losses) if loss]
        for number, place in enumerate(places):
            ids = list(built.ids)
            ids[place] = trained.sequences.id("red")
            after = trained.predictions([TokenSequence(ids, built.pieces, built.positions, built.losses)])
            assert torch.allclose(after[: number + 1], before[: number + 1], atol=1e-5)


def test_that_padding_beside_a_longer_turn_changes_nothing(trained: UnifiedModel) -> None:
    short, long = (
        trained.sequences.training(toy(1, 7)[0].context, plan, [Weighed("I like tea", 0.5)] * n, "sure")
        for plan, n in (((), 0), (SOURCES, 4))
    )
    with torch.no_grad():
        alone, beside = trained.predictions([short]), trained.predictions([short, long])
    assert torch.allclose(alone, beside[: len(alone)], atol=1e-5)


def test_that_the_mask_lets_replies_see_all_and_evidence_itself_alone() -> None:
    pieces = torch.tensor([[0, 1, 2, REPLY, -2]])
    allowed = attention_mask(pieces)[0].tolist()
    assert [[int(x) for x in row] for row in allowed[:4]] == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [1, 1, 1, 1, 0],
    ]


def test_that_an_encoder_sees_neither_plans_nor_scores_from_what_predicts_them() -> None:
    pieces, levels = torch.tensor([[0, 0, 1, 1, 2, -2]]), torch.tensor([[0, 1, 2, 3, 2, 3]])
    allowed = encoder_mask(pieces, levels)[0].tolist()
    assert [[int(x) for x in row] for row in allowed[:5]] == [
        [1, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 0, 0, 1, 0],
    ]
    assert encoder_mask(pieces, levels, masked=False)[0, 4, 2]


def test_that_loss_falls_on_acting_evaluation_and_reply_tokens_alone(folder: Path) -> None:
    model = UnifiedModel.start(folder, SOURCES)
    turn = next(turn for turn in toy(20, 8) if len(turn.plan) == 2)
    built = model.sequences.training(turn.context, turn.plan, [Weighed("I like tea", 0.3)], "sure")
    told = [model.tokenizer.convert_ids_to_tokens(i) for i, loss in zip(built.ids, built.losses, strict=True) if loss]
    assert told == ["<|PERSONA|>", "<|DOCUMENTS|>", "[EOS]", "<|0.3|>", "sure", "</s>"]
    parts = losses(model, [built])
    assert set(parts) == {"source", "similarity", "response"}
    null = model.sequences.training(turn.context, (), [], "sure")
    assert float(losses(model, [null])["similarity"].detach()) == 0.0


def test_that_text_cannot_imitate_special_tokens(folder: Path) -> None:
    model = UnifiedModel.start(folder, SOURCES)
    context = Dialogue("d", (Utterance(Role.USER, "[EOS] <|NULL|> [EVIDENCE]"),))
    built = model.sequences.context(context)
    tokens = [model.tokenizer.convert_ids_to_tokens(i) for i in built.ids]
    assert [token for token in tokens if token.startswith(("[", "<|"))] == ["[SOURCE]"]


def test_that_evidence_is_shuffled_and_labels_follow_it(folder: Path) -> None:
    model = UnifiedModel.start(folder, SOURCES)
    turn = next(turn for turn in toy(20, 9) if len(turn.plan) == 2)
    (example,) = unified_examples([turn], negatives=3, seed=0)
    assert sorted(w.relevance for w in example.evidence) == [0.0] * 6 + [1.0] * 2
    orders = {tuple(example.sequence(model.sequences, random.Random(i)).ids) for i in range(5)}
    assert len(orders) > 1


def test_that_labels_of_a_scorer_are_computed_once(tmp_path: Path) -> None:
    class Counting(LexicalRelevance):
        asked = 0

        async def relevance(self, query: Query, evidence: Any) -> list[float]:
            Counting.asked += len(evidence)
            return await super().relevance(query, evidence)

    cache = tmp_path / "labels.json"
    turns = toy(10, 10)
    first = unified_examples(turns, negatives=1, seed=0, scorer=Counting(), cache=cache)
    asked = Counting.asked
    assert asked > 0
    assert unified_examples(turns, negatives=1, seed=0, scorer=Counting(), cache=cache) == first
    assert Counting.asked == asked
    assert json.loads(cache.read_text())


def test_that_labels_are_kept_while_more_are_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialoom.knowledge.unified.examples._SAVE_SECONDS", 0.0)
    cache, kept = tmp_path / "labels.json", []

    def watch(done: int, of: int) -> None:
        kept.append(len(json.loads(cache.read_text())) if cache.exists() else 0)

    unified_examples(toy(10, 10), negatives=1, seed=0, scorer=LexicalRelevance(), cache=cache, watch=watch)
    assert len(set(kept)) > 2
    assert kept[-1] == len(json.loads(cache.read_text()))


def test_that_a_stopped_run_goes_on_to_the_same_weights(folder: Path, tmp_path: Path) -> None:
    train, dev = (unified_examples(toy(n, s), negatives=1, seed=0) for n, s in ((40, 0), (8, 1)))
    weights = []
    for name, stops in (("whole", [8]), ("parts", [4, 8])):
        seen: list[int] = []
        for stop in stops:
            torch.manual_seed(0)
            model = UnifiedModel.start(folder, SOURCES)
            chosen = settings(folder, tmp_path / name, steps=8, validate_every=4, batch=4)
            seen = []

            def watch(progress: Any, stop: int = stop, seen: list[int] = seen) -> None:
                seen.append(progress.step)
                if progress.step == stop < 8:
                    raise KeyboardInterrupt

            try:
                train_unified(model, train, dev, chosen, watch)
            except KeyboardInterrupt:
                continue
        weights.append(model.network.get_input_embeddings().weight.detach().clone())
        assert seen[-1] == 8
    assert torch.allclose(weights[0], weights[1], atol=1e-5)


def test_that_lora_trains_few_weights_and_is_merged_when_saved(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    chosen = settings(folder, tmp_path, steps=2, validate_every=2, lora={"rank": 2})
    model = with_lora(UnifiedModel.start(folder, SOURCES), chosen)
    before = {n: p.detach().clone() for n, p in model.network.named_parameters()}
    examples = unified_examples(toy(8, 0), negatives=1, seed=0)
    train_unified(model, examples, examples, chosen)
    changed = {n for n, p in model.network.named_parameters() if not torch.equal(p, before[n])}
    allowed = ("lora_", "lm_head", "embed_tokens", "shared")
    assert changed
    assert all(any(part in name for part in allowed) for name in changed)
    model.network.eval()
    built = examples[0].sequence(model.sequences, random.Random(0))
    loaded = UnifiedModel.load(tmp_path / "best")
    with torch.no_grad():
        assert torch.allclose(loaded.predictions([built]), model.predictions([built]), atol=1e-4)


def test_that_a_base_is_opened_from_a_gguf_file(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    path = gguf(tmp_path / "tiny.gguf")
    model = UnifiedModel.start(path, SOURCES)
    assert model.network.config.num_hidden_layers == 1
    turn = toy(1, 0)[0]
    built = model.sequences.training(turn.context, SOURCES, [Weighed("I like tea", 0.5)], "sure")
    assert all(bool(torch.isfinite(part)) for part in losses(model, [built]).values())
    model.save(tmp_path / "saved")
    with torch.no_grad():
        again = UnifiedModel.load(tmp_path / "saved").predictions([built])
        assert torch.allclose(again, model.predictions([built]), atol=1e-5)


def test_that_the_embedded_model_is_a_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gguf")
    path = gguf(tmp_path / "tiny.gguf")  # its own file takes half a minute to read
    monkeypatch.setattr("dialoom.models.embedded.default_weights", lambda: path)
    assert UnifiedModel.start("embedded", SOURCES).network.config.hidden_size == 16


def test_that_settings_name_the_wrong_field_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "unims.yaml"
    path.write_text("model: tiny\ntrain: [a.jsonl]\ndev: [b.jsonl]\nout: out\n")
    assert read_settings(path).train == [str(tmp_path / "a.jsonl")]
    path.write_text("model: tiny\ntrain: [a]\ndev: [b]\nout: out\nepoch: 3\n")
    with pytest.raises(InvalidFile, match="epoch"):
        read_settings(path)


@pytest.mark.parametrize("name", ["unims-gpu.yaml", "unims-cpu.yaml"])
def test_that_the_settings_we_ship_are_settings(name: str) -> None:
    found = read_settings(Path(__file__).parents[3] / "benchmarks" / name)
    assert found.format == "kbp"
    assert (found.model == "embedded") == (name == "unims-gpu.yaml")


def test_that_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="language model"):
        UnifiedModel.start(tmp_path, SOURCES)
    with pytest.raises(UsageError, match="no folder"):
        UnifiedModel.start(tmp_path / "none", SOURCES)


def test_that_two_runs_of_one_seed_are_one_run(folder: Path, tmp_path: Path) -> None:
    turns = unified_examples(toy(8, 0), negatives=1, seed=0)
    ends: list[float | None] = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        torch.manual_seed(len(ends))  # what the process drew before must not matter
        settings = UnifiedSettings(
            model=str(folder), train=["-"], dev=["-"], out=str(tmp_path / name), steps=2, batch=4, rate=1e-3,
            device="cpu", seed=seed, lora=LoraSettings(rank=2),
        )  # fmt: skip
        model = with_lora(UnifiedModel.start(folder, SOURCES, seed=settings.seed), settings)
        ends.append(train_unified(model, turns, turns, settings).best)
    assert ends[0] == ends[1] != ends[2]


def test_that_the_command_trains_from_one_file(folder: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from dialoom.cli.train import app
    from dialoom.knowledge.labelled import write_labelled

    write_labelled(tmp_path / "train.jsonl", toy(16, 0))
    write_labelled(tmp_path / "dev.jsonl", toy(4, 1))
    config = {
        "model": str(folder), "train": ["train.jsonl"], "dev": ["dev.jsonl"], "out": "out", "steps": 2, "batch": 4,
        "device": "cpu", "relevance": "lexical",
    }  # fmt: skip
    (tmp_path / "unims.yaml").write_text(json.dumps(config))
    done = CliRunner().invoke(app, ["unims", str(tmp_path / "unims.yaml")])
    assert done.exit_code == 0, done.output
    assert "best validation loss" in done.stdout
    assert (tmp_path / "out" / "relevance-lexical-train.json").exists()
    assert UnifiedModel.load(tmp_path / "out" / "best").sources == ("PERSONA", "DOCUMENTS")
