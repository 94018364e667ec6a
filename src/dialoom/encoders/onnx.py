"""Transformer encoders exported to ONNX, run on the CPU by onnxruntime."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dialoom.encoders.base import Pooling, Vectors
from dialoom.encoders.rows import encode_written
from dialoom.errors import InvalidFile, MissingExtra, RunError, UsageError
from dialoom.files import read_text


class ONNXEncoder:
    """A folder as sentence-transformers models are published: model.onnx (or onnx/model.onnx) and tokenizer.json.

    Token vectors are pooled by their mean or by the first (CLS) token: as `pooling` says, else as the folder's
    1_Pooling/config.json says, else by the mean. Texts are run together only with texts of as many tokens, so that no
    padding can change a row. (A model with dynamic int8 quantisation still mixes its batch: use `batch` 1.)
    """

    def __init__(
        self, folder: Path | str, *, pooling: Pooling | None = None, max_tokens: int | None = None, batch: int = 32
    ) -> None:
        """Longer texts are cut to `max_tokens` (else sentence_bert_config.json's, else 512).

        Raises `MissingExtra`, `InvalidFile` for a file that is absent or broken, `UsageError` for an unfit model.
        """
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtra("Encoding with ONNX", "onnx") from error
        place = Path(folder)
        self.batch = batch
        self.pooling: Pooling = pooling or _pooling(place)
        self._tokenizer = _opened(place / "tokenizer.json", lambda path: Tokenizer.from_str(read_text(path)))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(
            max_tokens or _setting(place, "sentence_bert_config.json", "max_seq_length", 512)
        )
        model = next((path for path in _models(place) if path.exists()), place / "model.onnx")
        self._session = _opened(
            model, lambda path: onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        )
        unknown = {entry.name for entry in self._session.get_inputs()} - {
            "input_ids",
            "attention_mask",
            "token_type_ids",
        }
        if unknown:
            raise UsageError(f"{model} asks for {', '.join(sorted(unknown))}, which text does not give.")
        self.dimension = self._encode(["dimension"]).shape[1]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit rows; blank texts give zeros. Raises `RunError` when the model fails."""
        return encode_written(texts, self.dimension, self._encode)

    def _encode(self, texts: list[str]) -> Vectors:
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        alike: dict[int, list[int]] = defaultdict(list)
        for place, ids in enumerate(tokens):
            alike[len(ids)].append(place)
        rows: dict[int, Any] = {}
        for places in alike.values():
            for first in range(0, len(places), self.batch):
                part = places[first : first + self.batch]
                rows.update(zip(part, self._run([tokens[place] for place in part]), strict=True))
        return np.asarray([rows[place] for place in range(len(texts))], np.float32)

    def _run(self, tokens: list[list[int]]) -> Vectors:
        """Pooled vectors of token lists of one length; an empty list of tokens gives zeros."""
        ids = np.asarray(tokens, np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            feed = {entry.name: values[entry.name] for entry in self._session.get_inputs()}
            output = np.asarray(self._session.run(None, feed)[0], np.float32)
        except Exception as error:  # onnxruntime's errors share no base
            raise RunError(f"The ONNX model failed ({error}).") from error
        if output.ndim == 3:
            output = output[:, 0] if self.pooling == "cls" else output.mean(axis=1)
        return output


def _models(folder: Path) -> tuple[Path, Path]:
    return folder / "model.onnx", folder / "onnx" / "model.onnx"


def _opened(path: Path, load: Any) -> Any:
    if not path.is_file():
        raise InvalidFile(path, "is absent.", hint="A folder with model.onnx and tokenizer.json is needed.")
    try:
        return load(path)
    except Exception as error:  # neither library has an error class of its own for a broken file
        raise InvalidFile(path, f"cannot be loaded ({error}).") from error


def _pooling(folder: Path) -> Pooling:
    said = [
        _setting(folder / "1_Pooling", "config.json", key, "") for key in ("pooling_mode", "pooling_mode_cls_token")
    ]
    return "cls" if said[0] == "cls" or said[1] is True else "mean"


def _setting(folder: Path, name: str, key: str, default: Any) -> Any:
    """A value of a settings file, `default` where there is no such file or key."""
    path = folder / name
    if not path.is_file():
        return default
    try:
        return json.loads(read_text(path)).get(key, default)
    except (ValueError, AttributeError) as error:
        raise InvalidFile(path, f"not a JSON object ({error}).") from error
