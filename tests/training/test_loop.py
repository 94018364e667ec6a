"""The loop on a network of one layer: what every training run shares."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from dialoom.errors import InvalidFile, UsageError  # noqa: E402
from dialoom.training.loop import Progress, fit  # noqa: E402
from dialoom.training.settings import EMBEDDED, RunSettings, read_settings  # noqa: E402

POINTS = [(float(x), 3.0 * x + 1.0) for x in range(-4, 5)]


class Line:
    """Learns y = 3x + 1, with dropout to make chance matter."""

    device = "cpu"

    def __init__(self, width: int = 1, dropout: float = 0.0) -> None:
        torch.manual_seed(0)
        linear = torch.nn.Linear
        self.network: Any = torch.nn.Sequential(linear(1, width), torch.nn.Dropout(dropout), linear(width, 1))
        self.saved: list[str] = []

    def loss(self, batch: Sequence[tuple[float, float]], order: random.Random) -> Any:
        x, y = (torch.tensor(column)[:, None] for column in zip(*batch, strict=True))
        return ((self.network(x + order.uniform(0, 1e-3)) - y) ** 2).mean()

    def save(self, folder: Path) -> None:
        self.saved.append(folder.name)


def settings(out: Path, **more: Any) -> RunSettings:
    return RunSettings(**{"model": "-", "out": str(out), "rate": 0.05, "batch": 3, "steps": 60, **more})


def test_that_the_loss_falls_and_the_best_is_kept(tmp_path: Path) -> None:
    line = Line()
    run = fit(line, POINTS, POINTS, settings(tmp_path, validate_every=10))
    losses = [loss for _, loss in run.history]
    assert losses[-1] < 0.1 * losses[0]
    assert run.best == min(losses)
    better = sum(loss < min(losses[:i], default=float("inf")) for i, loss in enumerate(losses))
    assert (line.saved.count("best"), line.saved.count("last")) == (better, 6)


def test_that_accumulated_parts_are_one_large_batch(tmp_path: Path) -> None:
    ends = []
    for name, sizes in (("whole", {"batch": 9}), ("parts", {"batch": 3, "accumulate": 3})):
        line = Line()
        fit(line, POINTS, POINTS, settings(tmp_path / name, steps=5, **sizes))
        ends.append(line.network[2].weight.detach())
    assert torch.allclose(ends[0], ends[1], atol=1e-4)


def test_that_a_stopped_run_draws_what_it_would_have_drawn(tmp_path: Path) -> None:
    ends = []
    for name, stops in (("whole", (20,)), ("parts", (10, 20))):
        for stop in stops:
            line = Line(width=8, dropout=0.3)

            def watch(progress: Progress, stop: int = stop) -> None:
                if progress.step == stop < 20:
                    raise KeyboardInterrupt

            try:
                run = fit(line, POINTS, POINTS, settings(tmp_path / name, steps=20, validate_every=5), watch)
            except KeyboardInterrupt:
                continue
        ends.append((line.network[0].weight.detach(), run.history))
    assert torch.equal(ends[0][0], ends[1][0])
    assert ends[0][1] == ends[1][1]


def test_that_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    first = fit(Line(), POINTS, POINTS, settings(tmp_path))
    again = Line()
    assert fit(again, POINTS, POINTS, settings(tmp_path)).history == first.history
    assert again.saved == []


def test_that_the_run_of_another_network_is_refused(tmp_path: Path) -> None:
    fit(Line(), POINTS, POINTS, settings(tmp_path))
    with pytest.raises(UsageError, match="another network"):
        fit(Line(width=2), POINTS, POINTS, settings(tmp_path))


def test_that_nothing_to_learn_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="examples"):
        fit(Line(), POINTS, [], settings(tmp_path))


def test_that_paths_are_relative_to_the_file_and_wrong_fields_named(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("model: embedded\nout: run\n")
    read = read_settings(path, RunSettings, ("model", "out"))
    assert (read.model, read.out) == (EMBEDDED, str(tmp_path / "run"))
    path.write_text("model: tiny\nout: run\nepoch: 3\n")
    with pytest.raises(InvalidFile, match="epoch"):
        read_settings(path, RunSettings, ("model", "out"))
