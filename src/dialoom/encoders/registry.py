"""Encoders by name, written as language models are: `kind:what`, or a server's address with the model after '#'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from dialoom.encoders.base import Encoder, Pooling
from dialoom.errors import UnknownName, UsageError


def open_encoder(spec: str, *, pooling: Pooling | None = None) -> Encoder:
    """The encoder that `spec` names: `onnx:FOLDER`, `sentence-transformers:MODEL`, `openai:MODEL` or `URL#MODEL`.

    `pooling` overrides how a local model's token vectors become one. Raises `UnknownName` for another kind,
    `UsageError` for one that names no model or pools elsewhere, `MissingExtra` for one that is not installed. The
    default encoder is not among them: it is fitted on your own transcripts when you learn.
    """
    kind, _, what = spec.partition(":")
    if pooling is not None and kind not in LOCAL:
        raise UsageError(f"'{spec}' pools where it runs.", hint=f"pooling is for {' and '.join(sorted(LOCAL))}.")
    if kind in ("http", "https"):
        address, _, model = spec.partition("#")
        return _http(address, _named(model, spec, "http://localhost:8000/v1#MODEL"))
    if kind not in ENCODERS:
        raise UnknownName("encoder", kind, (*ENCODERS, "http", "https"))
    named = _named(what, spec, f"{kind}:MODEL")
    return LOCAL[kind](named, pooling) if kind in LOCAL else ENCODERS[kind](named)


def _named(what: str, spec: str, example: str) -> str:
    if not what:
        raise UsageError(f"The encoder '{spec}' names no model.", hint=f"Write it like {example}.")
    return what


def _http(base_url: str | None, model: str) -> Encoder:
    from dialoom.encoders.http import HTTPEncoder

    return HTTPEncoder(model, base_url=base_url)


def _onnx(folder: str, pooling: Pooling | None = None) -> Encoder:
    from dialoom.encoders.onnx import ONNXEncoder

    return ONNXEncoder(folder, pooling=pooling)


def _sentence_transformers(model: str, pooling: Pooling | None = None) -> Encoder:
    from dialoom.encoders.sentence_transformers import SentenceTransformersEncoder

    return SentenceTransformersEncoder(model, pooling=pooling)


LOCAL: Mapping[str, Callable[[str, Pooling | None], Encoder]] = MappingProxyType(
    {"onnx": _onnx, "sentence-transformers": _sentence_transformers}
)
"""Encoders that run here, whose pooling can be chosen."""

ENCODERS: Mapping[str, Callable[[str], Encoder]] = MappingProxyType(
    {
        "onnx": _onnx,
        "openai": lambda model: _http(None, model),
        "sentence-transformers": _sentence_transformers,
    }
)
