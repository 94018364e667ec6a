"""BERTScore with any local encoder: how well the tokens of a reply and its reference match in context."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import InvalidFile, MissingExtra, UsageError
from dialoom.files import read_text

Part = Literal["p", "r", "f"]
BASELINE = "bertscore_baseline.json"
PARTS: tuple[Part, ...] = ("p", "r", "f")


class BertScore:
    """Greedy matching of token vectors by cosine (Zhang et al. 2020, eq. 1-3), without weights by rarity.

    `folder` holds a transformers encoder and its tokenizer; vectors are those of `layer` (default: the last). Special
    tokens do not match. Where the folder holds `bertscore_baseline.json`, {"p", "r", "f"} as measured on random pairs,
    scores are rescaled by (score - baseline) / (1 - baseline) (sec. 4 of its appendix).
    """

    def __init__(self, folder: Path | str, layer: int | None = None) -> None:
        """Raises `InvalidFile` for a folder that holds no encoder, `MissingExtra` without transformers."""
        self.folder = Path(folder).expanduser().absolute()
        if not (self.folder / "config.json").is_file():
            raise InvalidFile(self.folder, "there is no encoder in this folder (no config.json).")
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtra("BERTScore", "train") from error
        self._torch = torch
        self._tokenizer: Any = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(self.folder, local_files_only=True).eval()
        layers = int(self._model.config.num_hidden_layers)
        if layer is not None and not 0 <= layer <= layers:
            raise UsageError(f"The encoder has no layer {layer}.", hint=f"Layers: 0 to {layers}.")
        self.layer = layers if layer is None else layer
        self._baseline = self._read_baseline()
        self._vectors = lru_cache(4096)(self._encode)

    def score(self, reply: str, reference: str) -> dict[Part, float]:
        """Precision, recall and F1; all 0 where either text has no token."""
        said, true = self._vectors(reply), self._vectors(reference)
        if not len(said) or not len(true):
            return dict.fromkeys(PARTS, 0.0)
        cosines = said @ true.T
        precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
        total = precision + recall
        plain = {"p": precision, "r": recall, "f": 2 * precision * recall / total if total else 0.0}
        return {part: (plain[part] - self._baseline[part]) / (1 - self._baseline[part]) for part in PARTS}

    def _encode(self, text: str) -> NDArray[np.float64]:
        marked = self._tokenizer(
            text.strip(), truncation=True, max_length=512, return_tensors="pt", return_special_tokens_mask=True
        )
        ordinary = marked.pop("special_tokens_mask")[0].numpy() == 0
        if not ordinary.any():
            return np.zeros((0, 1))
        with self._torch.inference_mode():
            hidden = self._model(**marked, output_hidden_states=True).hidden_states[self.layer][0]
        rows: NDArray[np.float64] = hidden.double().numpy()[ordinary]
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return rows

    def _read_baseline(self) -> dict[Part, float]:
        path = self.folder / BASELINE
        if not path.exists():
            return dict.fromkeys(PARTS, 0.0)
        try:
            found = json.loads(read_text(path, limit=4096))
            return {part: float(found[part]) for part in PARTS}
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidFile(path, f'expected {{"p", "r", "f"}} as numbers ({error}).') from error


@cache
def opened(spec: str) -> BertScore:
    """The scorer of `FOLDER` or `FOLDER@LAYER`, loaded once."""
    folder, sign, layer = spec.rpartition("@")
    return BertScore(folder, int(layer)) if sign and layer.isdigit() else BertScore(spec)
