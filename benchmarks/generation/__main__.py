"""Run all of it, or the parts named: `python -m benchmarks.generation prepare transduction`.

Parts: completeness, prepare, decode (points 3 and 4), transduction, faults. `--samples N` and `--runs N` make the first
and the last shorter.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.generation import completeness, decoding, faults, preparing
from dialoom.errors import DialoomError
from dialoom.generation.constraint import Guidance

PARTS = ("completeness", "prepare", "decode", "transduction", "faults")


def option(name: str, default: int) -> int:
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def loaded() -> Any:
    """The embedded weights in transformers, or None where either is not installed."""
    from dialoom.generation.transformers_model import TransformersTokenModel
    from dialoom.models.embedded import default_weights

    try:
        import torch
        import transformers

        torch.set_num_threads(1)
        transformers.logging.disable_progress_bar()
        return TransformersTokenModel.load(default_weights())
    except (ImportError, DialoomError) as error:
        print(f"Without the embedded weights: {error}")
        return None


def main() -> None:
    warnings.simplefilter("ignore")
    wanted = [part for part in PARTS if part in sys.argv[1:]] or list(PARTS)
    model = loaded() if {"completeness", "prepare", "decode"} & set(wanted) else None
    if "completeness" in wanted:
        completeness.measure(model, option("--samples", completeness.SAMPLES))
    if "prepare" in wanted:
        preparing.measure(Guidance.of_bytes(), decoding.embedded_step_ms() if model is not None else None)
    if "decode" in wanted and model is not None:
        decoding.measure(model)
    if "transduction" in wanted:
        preparing.transduction()
    if "faults" in wanted:
        faults.measure(option("--runs", faults.RUNS))


if __name__ == "__main__":
    main()
