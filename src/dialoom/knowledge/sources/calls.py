"""A source that is a function or an HTTP endpoint: declared result, retries, a cache of its own for each user."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jsonschema
import stamina

from dialoom.errors import SourceError, UsageError
from dialoom.knowledge.base import Evidence, Passage, Query
from dialoom.knowledge.sources.indexed import named

RESULT_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "text": {"type": "string"},
            "score": {"type": "number"},
            "parents": {"type": "array", "items": {"type": "string"}},
            "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["id", "text"],
    },
}
"""What a call returns unless it declares otherwise: passages, best first."""

_MAX_RESPONSE = 4 * 1024 * 1024
_MAX_CACHED = 1000


class CallSource:
    """Asks `call(query, n)` and reads passages from what it returns.

    The result must match `schema`, then `passages` turns it into records of `RESULT_SCHEMA`'s form (by default it is
    already in that form). A failure that may pass is tried `attempts` times in all. A result is kept for
    `cache_seconds`, apart for each user; 0 keeps nothing. An async `call` gets an event loop of its own each time.
    """

    def __init__(
        self,
        name: str,
        description: str,
        call: Callable[[Query, int], Any],
        *,
        depends_on: Sequence[str] = (),
        schema: Mapping[str, Any] = RESULT_SCHEMA,
        passages: Callable[[Any], Sequence[Mapping[str, Any]]] | None = None,
        attempts: int = 2,
        cache_seconds: float = 300.0,
    ) -> None:
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            raise UsageError(f"The schema of source '{name}' is not a JSON Schema: {error.message}.") from error
        self.name = named(name)
        self.description = description
        self.depends_on = tuple(depends_on)
        self._call = call
        self._validator = jsonschema.Draft202012Validator(schema)
        self._records = jsonschema.Draft202012Validator(RESULT_SCHEMA)
        self._passages = passages
        self._attempts = attempts
        self._cache_seconds = cache_seconds
        self._cache: dict[tuple[object, ...], tuple[float, tuple[Evidence, ...]]] = {}
        self._lock = threading.Lock()

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """See `Source`."""
        earlier = [(e.source, e.id) for e in query.evidence if e.source in self.depends_on]
        said = tuple(utterance.text for utterance in query.context.utterances)
        key = (query.user, said, tuple(earlier), n)
        now = time.monotonic()
        with self._lock:
            kept = self._cache.get(key)
        if kept is not None and now - kept[0] < self._cache_seconds:
            return kept[1]
        found = self._read(self._ask(query, n), n, tuple(earlier))
        if self._cache_seconds > 0:
            with self._lock:
                if len(self._cache) >= _MAX_CACHED:
                    self._cache.clear()
                self._cache[key] = (now, found)
        return found

    def _ask(self, query: Query, n: int) -> Any:
        try:
            for attempt in stamina.retry_context(
                on=_may_pass, attempts=self._attempts, wait_initial=0.05, wait_max=1.0
            ):
                with attempt:
                    result = self._call(query, n)
                    return asyncio.run(result) if inspect.iscoroutine(result) else result
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(f"Source '{self.name}' failed: {type(error).__name__}: {error}") from error
        raise AssertionError("retry_context either returns or raises")

    def _read(self, result: Any, n: int, earlier: tuple[tuple[str, str], ...]) -> tuple[Evidence, ...]:
        problem = next(iter(self._validator.iter_errors(result)), None)
        records: Any = []
        if problem is None:
            records = self._passages(result) if self._passages else result
            problem = next(iter(self._records.iter_errors(records)), None)
        if problem is not None:
            where = problem.json_path
            raise SourceError(
                f"Source '{self.name}' returned what its schema does not allow, at {where}: {problem.message}"
            )
        return tuple(
            Evidence(
                self.name,
                Passage(
                    record["id"],
                    record["text"],
                    parents=tuple(record.get("parents", ())),
                    origin=self.name,
                    metadata=record.get("metadata", {}),
                ),
                score=float(record.get("score", 1 / rank)),
                depends_on=earlier,
            )
            for rank, record in enumerate(records[:n], start=1)
        )


class HttpCall:
    """GETs JSON from `url`, in which `{query}`, `{user}` and `{n}` are filled in, percent-encoded.

    At most 4 MiB are read and `timeout` seconds waited for each answer. Refused connections, 429 and 5xx may pass.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, timeout: float = 5.0) -> None:
        if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
            raise UsageError(f"'{url}' is not an http or https address.")
        self._url = url
        self._headers = dict(headers or {})
        self._timeout = timeout

    def __call__(self, query: Query, n: int) -> Any:
        """The decoded JSON. Raises `SourceError`."""
        values = {"query": query.text, "user": query.user, "n": str(n)}
        url = self._url
        for name, value in values.items():
            url = url.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
        request = urllib.request.Request(url, headers={"Accept": "application/json", **self._headers})  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:  # noqa: S310 - scheme checked above
                body = response.read(_MAX_RESPONSE + 1)
        except urllib.error.HTTPError as error:
            error.close()
            raise _failed(
                f"{self._url} answered {error.code}.", may_pass=error.code == 429 or error.code >= 500
            ) from error
        except (OSError, ValueError) as error:
            raise _failed(f"{self._url} could not be read: {error}.", may_pass=True) from error
        if len(body) > _MAX_RESPONSE:
            raise SourceError(f"{self._url} answered more than {_MAX_RESPONSE} bytes.")
        try:
            return json.loads(body)
        except ValueError as error:
            raise SourceError(f"{self._url} did not answer JSON: {error}.") from error


def _failed(message: str, *, may_pass: bool) -> SourceError:
    error = SourceError(message)
    error.retryable = may_pass
    return error


def _may_pass(error: Exception) -> bool:
    return error.retryable if isinstance(error, SourceError) else isinstance(error, OSError)
