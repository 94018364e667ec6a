"""DialogRPT on tiny GPT-2 classifiers of random weights, against the published formula written out."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dialoom.errors import InvalidFile, UnknownName, UsageError
from dialoom.evaluation.dialogrpt import SINGLE, DialogRPT, joined, opened
from dialoom.evaluation.experiments.measures import Answered, measure

from .conftest import WORDS, Save

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

CONTEXT = ("hello", "where is the parcel")
REPLY = "it is on its way"
NAMES = ("updown", "human-vs-rand", "DialogRPT-human-vs-machine")


@pytest.fixture(scope="module")
def folder(save_gpt2: Save, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dialogrpt")
    for seed, name in enumerate(NAMES):
        save_gpt2(folder / name, seed)
    return folder


def written_out(folder: Path, context: tuple[str, ...], reply: str) -> float:
    """sigmoid(w . h_T): h_T the last hidden state of `turn <|endoftext|> ... reply`, w the classifier's weights."""
    model = transformers.GPT2ForSequenceClassification.from_pretrained(folder).eval()
    number = {word: place for place, word in enumerate(("<|endoftext|>", "[UNK]", *WORDS))}
    text = "".join(f"{turn} <|endoftext|> " for turn in context) + reply
    ids = torch.tensor([[number[word] for word in text.split()]])
    with torch.no_grad():
        last = model.transformer(ids)[0][0, -1].tolist()
    logit = math.fsum(w * h for w, h in zip(model.score.weight[0].tolist(), last, strict=True))
    return 1.0 / (1.0 + math.exp(-logit))


@pytest.mark.parametrize(("part", "name"), list(zip(SINGLE, NAMES, strict=True)))
def test_that_each_score_is_the_published_formula(part: str, name: str, folder: Path) -> None:
    score = opened(part, str(folder)).score(CONTEXT, REPLY)
    assert score == pytest.approx(written_out(folder / name, CONTEXT, REPLY), abs=1e-5)
    assert score != pytest.approx(opened(part, str(folder)).score((), REPLY), abs=1e-4)


def test_that_best_is_the_largest_and_avg_the_mean_of_the_three(folder: Path) -> None:
    three = [opened(part, str(folder)).score(CONTEXT, REPLY) for part in SINGLE]
    assert opened("best", str(folder)).score(CONTEXT, REPLY) == max(three)
    assert opened("avg", str(folder)).score(CONTEXT, REPLY) == pytest.approx(sum(three) / 3)


@pytest.mark.parametrize(
    ("three", "mean"),
    [
        ((0.433, 0.789, 0.983), 0.735),
        ((0.490, 0.922, 0.999), 0.804),
        ((0.464, 0.877, 0.997), 0.779),
        ((0.574, 0.767, 0.998), 0.780),
        ((0.481, 0.839, 0.997), 0.773),
    ],
)
def test_that_avg_is_that_of_the_papers_table(three: tuple[float, ...], mean: float) -> None:
    """S-ICL's table 2, whose figures are rounded to three digits."""
    assert joined("avg", three) == pytest.approx(mean, abs=0.001)


def test_that_only_the_last_turns_are_read_where_so_asked(folder: Path) -> None:
    assert opened("updown", f"{folder}@1").score(CONTEXT, REPLY) == opened("updown", str(folder)).score(
        CONTEXT[-1:], REPLY
    )


def test_that_what_does_not_fit_is_left_out_from_the_oldest_end(folder: Path) -> None:
    scorer = DialogRPT(folder / "updown")
    long = ("hello we sent it to you",) * 9
    ids = " <|endoftext|> ".join((*long, REPLY)).split()[-24:]
    assert ids[0] != "hello"
    kept = tuple(turn.strip() for turn in " ".join(ids[: -len(REPLY.split())]).split("<|endoftext|>")[:-1])
    assert scorer.score(long, REPLY) == pytest.approx(written_out(folder / "updown", kept, REPLY), abs=1e-5)
    assert 0.0 < scorer.score((), "") < 1.0
    assert 0.0 < scorer.score((), " ".join(["parcel"] * 99)) < 1.0


def test_that_it_is_a_metric_of_experiments_that_reads_the_context(folder: Path) -> None:
    item = measure(f"dialogrpt-avg:{folder}").item
    assert item is not None
    said = Answered(REPLY, "hello", context=CONTEXT)
    assert item(said) == pytest.approx(opened("avg", str(folder)).score(CONTEXT, REPLY))
    with pytest.raises(UnknownName, match="dialogrpt-updown:FOLDER"):
        measure("dialogrpt-width:x")


def test_that_a_folder_without_a_model_or_with_another_kind_is_refused(
    folder: Path, save_gpt2: Save, tmp_path: Path
) -> None:
    with pytest.raises(InvalidFile, match="no checkpoint for updown"):
        opened("updown", str(tmp_path))
    with pytest.raises(UsageError, match="3 outputs"):
        DialogRPT(save_gpt2(tmp_path / "three", 1, labels=3))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    with pytest.raises(InvalidFile, match="cannot be loaded"):
        DialogRPT(tmp_path / "broken")
