"""Seconds to score one system's MultiWOZ predictions, beside the 15 seconds the official evaluation takes for it.

DIALOOM_DATA/multiwoz holds evaluator_data/ and predictions/. The official time (two cores, Moses tokeniser,
fuzzywuzzy) is the round figure of the runs recorded beside the predictions; it is quoted, not run here.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from dialoom.evaluation.multiwoz.benchmark import open_benchmark
from dialoom.evaluation.multiwoz.predictions import read_predictions
from dialoom.evaluation.multiwoz.scores import scores

OFFICIAL = 15.0


def main(folder: Path) -> None:
    for path in sorted(folder.glob("predictions/*.json")):
        if path.stem.startswith("scores"):
            continue
        wall, processor = time.perf_counter(), time.process_time()
        benchmark = open_benchmark(folder)
        found = scores(read_predictions(path, benchmark), benchmark)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(
            f"{path.stem:8} inform {found.inform:5.1f} success {found.success:5.1f}"
            f"  {wall:5.2f} s ({processor:.2f} s of one core)  {OFFICIAL / wall:5.1f} times faster"
        )


if __name__ == "__main__":
    if folder := os.environ.get("DIALOOM_DATA"):
        main(Path(folder) / "multiwoz")
    else:
        print("DIALOOM_DATA does not point to the real data sets")
