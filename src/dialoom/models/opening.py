"""From the words a person writes after `--model` to a language model."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from dialoom.errors import UnknownName, UsageError
from dialoom.models.base import LanguageModel

SPECS = (
    "scripted",
    "embedded",
    "embedded:/path/model.gguf",
    "openai:NAME",
    "http://host:port/v1#NAME",
    "http://host:port/v1?flavour=vllm#NAME",
    "transformers:FOLDER",
    "cassette:FILE",
    "cassette:FILE#SPEC",
)
"""The forms `open_model` understands."""


def open_model(spec: str) -> LanguageModel:
    """The model that `spec` names. Nothing is loaded or reached before its first call.

    A cassette with a second spec replays what it holds and records the rest through that model. Raises `UnknownName`
    with the valid forms, and what the adapter raises (`MissingExtra`, a missing key).
    """
    kind, _, rest = spec.partition(":")
    if kind in ("http", "https"):
        return _server(spec)
    match kind:
        case "scripted" if not rest:
            from dialoom.models.scripted import ScriptedModel

            return ScriptedModel()
        case "embedded":
            from dialoom.models.embedded import EmbeddedModel

            return EmbeddedModel(rest or None)
        case "openai" if rest:
            from dialoom.models.openai_compatible import OpenAICompatibleModel

            return OpenAICompatibleModel(rest)
        case "transformers" if rest:
            from dialoom.models.transformers_local import TransformersModel

            return TransformersModel(rest)
        case "cassette" if rest:
            from dialoom.models.cassette import Cassette

            path, _, inner = rest.partition("#")
            return Cassette(path, open_model(inner), mode="auto") if inner else Cassette(path)
        case _:
            raise UnknownName("model", spec, SPECS)


def _server(spec: str) -> LanguageModel:
    from dialoom.models.openai_compatible import OpenAICompatibleModel

    parts = urlsplit(spec)
    options = parse_qs(parts.query)
    if unknown := sorted(set(options) - {"flavour"}):
        raise UnknownName("option of a model server", unknown[0], ("flavour",))
    if not parts.fragment:
        raise UsageError(f"'{parts.netloc}' serves which model?", hint="Write http://host:port/v1#NAME.")
    flavour = options.get("flavour", ["openai"])[0]
    address = parts._replace(query="", fragment="").geturl()
    return OpenAICompatibleModel(parts.fragment, address, flavour=flavour)
