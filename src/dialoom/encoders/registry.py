"""Encoders by name, written as language models are: `kind:what`, or a server's address with the model after '#'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from dialoom.encoders.base import Encoder
from dialoom.errors import UnknownName, UsageError


def open_encoder(spec: str) -> Encoder:
    """The encoder that `spec` names: `onnx:FOLDER`, `sentence-transformers:MODEL`, `openai:MODEL` or `URL#MODEL`.

    Raises `UnknownName` for another kind, `UsageError` for one that names no model, `MissingExtra` for one that is not
    installed. The default encoder is not among them: it is fitted on your own transcripts when you learn.
    """
    kind, _, what = spec.partition(":")
    if kind in ("http", "https"):
        address, _, model = spec.partition("#")
        return _http(address, _named(model, spec, "http://localhost:8000/v1#MODEL"))
    if kind not in ENCODERS:
        raise UnknownName("encoder", kind, (*ENCODERS, "http", "https"))
    return ENCODERS[kind](_named(what, spec, f"{kind}:MODEL"))


def _named(what: str, spec: str, example: str) -> str:
    if not what:
        raise UsageError(f"The encoder '{spec}' names no model.", hint=f"Write it like {example}.")
    return what


def _http(base_url: str | None, model: str) -> Encoder:
    from dialoom.encoders.http import HTTPEncoder

    return HTTPEncoder(model, base_url=base_url)


def _onnx(folder: str) -> Encoder:
    from dialoom.encoders.onnx import ONNXEncoder

    return ONNXEncoder(folder)


def _sentence_transformers(model: str) -> Encoder:
    from dialoom.encoders.sentence_transformers import SentenceTransformersEncoder

    return SentenceTransformersEncoder(model)


ENCODERS: Mapping[str, Callable[[str], Encoder]] = MappingProxyType(
    {
        "onnx": _onnx,
        "openai": lambda model: _http(None, model),
        "sentence-transformers": _sentence_transformers,
    }
)
