"""Any server with OpenAI's /embeddings: OpenAI, vLLM, llama.cpp, Ollama, text-embeddings-inference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dialoom.encoders.base import Vectors
from dialoom.encoders.rows import encode_written
from dialoom.errors import MissingExtra, ModelError, ModelRefused, ModelTimeout, ModelUnavailable, UsageError


class HTTPEncoder:
    """Vectors from `base_url`/embeddings, `batch` texts a request.

    The key is in the environment variable `key_variable`; OpenAI itself needs one, other servers get a dummy when it is
    unset. A request that times out, cannot connect or meets an overloaded server is tried again `retries` times with
    growing pauses; then it raises `ModelTimeout`, `ModelUnavailable` or, when the server rejects it, `ModelRefused`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        batch: int = 64,
        timeout: float = 30.0,
        retries: int = 2,
    ) -> None:
        """`base_url` ends in /v1 for most servers; None is OpenAI's own. Raises `MissingExtra`, `UsageError`."""
        try:
            from openai import OpenAI
        except ImportError as error:
            raise MissingExtra("Encoding over HTTP", "openai") from error
        self.model = model
        self.batch = batch
        key = os.environ.get(key_variable)
        if base_url is None and not key:
            raise UsageError(f"The encoder openai:{model} needs a key.", hint=f"Set the variable {key_variable}.")
        self._client = OpenAI(base_url=base_url, api_key=key or "none", timeout=timeout, max_retries=retries)

    @cached_property
    def dimension(self) -> int:
        """Columns of every result; asks the server once."""
        return int(self._request(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit rows; blank texts are not sent. Raises a `ModelError` as the class says."""
        return encode_written(texts, self.dimension, self._batches)

    def _batches(self, texts: list[str]) -> Vectors:
        blocks = [self._request(texts[first : first + self.batch]) for first in range(0, len(texts), self.batch)]
        if any(block.shape[1] != self.dimension for block in blocks):
            raise ModelError(f"'{self.model}' changed the width of its vectors.")
        return np.concatenate(blocks)

    def _request(self, texts: list[str]) -> Vectors:
        import openai

        try:
            reply = self._client.embeddings.create(model=self.model, input=texts, encoding_format="float")
        except openai.APITimeoutError as error:
            raise ModelTimeout(f"'{self.model}' did not answer in time.") from error
        except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError) as error:
            raise ModelUnavailable(f"'{self.model}' cannot be reached ({error}).") from error
        except openai.APIStatusError as error:
            raise ModelRefused(f"'{self.model}' refused the texts ({error}).") from error
        except openai.OpenAIError as error:
            raise ModelError(f"'{self.model}' failed ({error}).") from error
        return _vectors(reply, len(texts), self.model)


def _vectors(reply: Any, count: int, model: str) -> Vectors:
    """The rows of a reply, in the order asked. Servers are not trusted to count or to sort."""
    try:
        rows = sorted(reply.data, key=lambda row: row.index)
        vectors = np.asarray([row.embedding for row in rows], np.float32)
        numbered = [row.index for row in rows] == list(range(count))
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"'{model}' did not answer with vectors ({error}).") from error
    if not numbered or vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ModelError(f"'{model}' did not answer with one vector for each of {count} texts.")
    return vectors
