"""Sequence classifiers in local folders: what DialogRPT and entailment scores are computed with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra


class Classifier:
    """A transformers sequence classifier and its tokenizer, loaded from a folder and never from a network."""

    def __init__(self, folder: Path, needed_for: str) -> None:
        """Raises `InvalidFile` for a folder that holds no such model, `MissingExtra` without transformers."""
        if not (folder / "config.json").is_file():
            raise InvalidFile(folder, "there is no classifier in this folder (no config.json).")
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError as error:
            raise MissingExtra(needed_for, "train") from error
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True).eval()
        except (OSError, ValueError, KeyError) as error:
            raise InvalidFile(folder, f"its classifier cannot be loaded ({error}).") from error
        self._torch = torch
        self._model.config.pad_token_id = None  # one text at a time: the last token is never padding
        self.config: Any = self._model.config

    def logits(self, **inputs: Any) -> list[float]:
        """The logits of one text; `inputs` are lists of token ids by the names that the model takes."""
        with self._torch.inference_mode():
            batch = {name: self._torch.tensor([row]) for name, row in inputs.items()}
            found: list[float] = self._model(**batch).logits[0].double().tolist()
        return found
