"""Fine-tuning a tiny model with random weights on a CPU: what is learned, saved, gone on from and read back."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("peft", reason="the extra 'train' is not installed")

from dialoom.errors import InvalidFile  # noqa: E402
from dialoom.generation.finetuning import ReplyPair, ReplyTrainee, load_base, save_whole, with_adapters  # noqa: E402
from dialoom.training.loop import fit  # noqa: E402
from dialoom.training.settings import LoraSettings, RunSettings  # noqa: E402

PAIRS = [ReplyPair(f"Computation: (size {n})", f"I found {n} events.") for n in range(12)]


def settings(out: Path, **more: Any) -> RunSettings:
    values = {"model": "-", "out": str(out), "rate": 1e-2, "batch": 4, "steps": 20, "device": "cpu"}
    return RunSettings.model_validate({**values, **more})


def trainee(folder: Path, **lora: Any) -> ReplyTrainee:
    return ReplyTrainee(load_base(folder), LoraSettings(**lora))


@pytest.fixture(scope="module")
def tuned(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tuned")
    fit(trainee(tiny_model), PAIRS[:10], PAIRS[10:], settings(out, steps=60, validate_every=10))
    return out


def test_that_the_loss_falls_and_only_adapters_are_trained(tiny_model: Path, tmp_path: Path) -> None:
    learner = trainee(tiny_model, dropout=0.0)
    frozen = {name: p.clone() for name, p in learner.network.named_parameters() if not p.requires_grad}
    assert all("lora_" in name for name, p in learner.network.named_parameters() if p.requires_grad)
    run = fit(learner, PAIRS[:10], PAIRS[10:], settings(tmp_path, validate_every=10, steps=40))
    assert run.history[-1][1] < 0.8 * run.history[0][1]
    now = dict(learner.network.named_parameters())
    assert all(torch.equal(now[name], p) for name, p in frozen.items())


def test_that_only_the_reply_and_its_end_are_predicted(tiny_model: Path) -> None:
    learner = trainee(tiny_model, dropout=0.0)
    model = learner.base
    pair = PAIRS[0]
    prompt, said = model.prompt_tokens(pair.prompt), [*model.encode(pair.reply), model.tokenizer.eos_token_id]
    with torch.no_grad():
        logits = model.model(torch.tensor([[*prompt, *said]])).logits[0, len(prompt) - 1 : -1]
        expected = torch.nn.functional.cross_entropy(logits, torch.tensor(said))
        found = learner.loss([pair], random.Random(0))
    assert float(found) == pytest.approx(float(expected), abs=1e-4)


def test_that_padding_changes_nothing(tiny_model: Path) -> None:
    learner = trainee(tiny_model, dropout=0.0)
    batch = [PAIRS[0], ReplyPair("Computation: (a (much (longer (prompt))))", "I found nothing at all in there.")]
    model = learner.base
    with torch.no_grad():
        lengths = [len(model.encode(pair.reply)) + 1 for pair in batch]
        apart = [float(learner.loss([pair], random.Random(0))) for pair in batch]
        together = float(learner.loss(batch, random.Random(0)))
    expected = sum(loss * length for loss, length in zip(apart, lengths, strict=True)) / sum(lengths)
    assert together == pytest.approx(expected, abs=1e-4)


def test_that_a_stopped_run_ends_at_the_same_adapters(tiny_model: Path, tmp_path: Path) -> None:
    ends = []
    for name, stops in (("whole", (12,)), ("parts", (6, 12))):
        for stop in stops:
            learner = trainee(tiny_model)  # with dropout

            def watch(progress: Any, stop: int = stop) -> None:
                if progress.step == stop < 12:
                    raise KeyboardInterrupt

            chosen = settings(tmp_path / name, steps=12, validate_every=3)
            try:
                run = fit(learner, PAIRS[:10], PAIRS[10:], chosen, watch)
            except KeyboardInterrupt:
                continue
        ends.append((run.history, [p.detach() for p in learner.network.parameters() if p.requires_grad]))
    assert dict(ends[0][0]) == pytest.approx(dict(ends[1][0]))
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(ends[0][1], ends[1][1], strict=True))


def test_that_saved_adapters_and_the_whole_model_score_as_the_trained_one(tuned: Path, tiny_model: Path) -> None:
    learner = trainee(tiny_model)
    fit(learner, PAIRS[:10], PAIRS[10:], settings(tuned, steps=60, validate_every=10))  # finished: as it was left
    learner.network.eval()
    scores = learner.base.session(PAIRS[3].prompt).logits
    read = with_adapters(load_base(tiny_model), tuned / "last")
    assert np.allclose(read.session(PAIRS[3].prompt).logits, scores, atol=1e-4)
    save_whole(read, tuned / "model")
    assert np.allclose(load_base(tuned / "model").session(PAIRS[3].prompt).logits, scores, atol=1e-4)
    untuned = load_base(tiny_model).session(PAIRS[3].prompt).logits
    assert not np.allclose(scores, untuned, atol=1e-2)


def test_that_folders_without_a_model_or_adapters_are_refused(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"no such model"):
        load_base(tmp_path / "none")
    with pytest.raises(InvalidFile, match="cannot load"):
        load_base(tmp_path)
    with pytest.raises(InvalidFile, match="adapters"):
        with_adapters(load_base(tiny_model), tmp_path)
