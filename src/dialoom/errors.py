"""Every error Dialoom raises, drawn once.

    DialoomError
    +-- UsageError                the caller or author made a mistake; mend the input and try again
    |   +-- UnknownName           a name that is not declared; lists the valid ones
    |   +-- InvalidFile           a file that does not hold what it should; names file, place and field
    |   |   +-- InvalidRecord     one record of a transcript
    |   +-- InvalidFlow           an authored flow that cannot run
    |   +-- InvalidRule           a generation rule or computation that cannot be used
    |   +-- MissingExtra          an optional dependency that is not installed
    |   +-- NothingToLearn        a corpus without a single usable dialogue
    +-- RunError                  the input was fine and the run failed
        +-- ModelError            a language model call
        |   +-- ModelTimeout
        |   +-- ModelUnavailable  connection refused, rate limit, server error
        |   +-- ModelRefused      the server rejected the request
        |   +-- InvalidOutput     the answer breaks the constraint it was asked to obey; carries the answer
        |   +-- CassetteMiss      a replayed cassette has no such call
        +-- SourceError           a knowledge source
        +-- CallError             an author's function
        +-- StoreError            sessions and events
        +-- EmptyLanguage         no true reply can be derived

Each error carries `hint` (the next step, one sentence) and `retryable`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DialoomError(Exception):
    """Any error of Dialoom: `message`, then `hint` where there is a next step."""

    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(DialoomError):
    """The caller or author made a mistake; mend the input and try again."""


class UnknownName(UsageError):
    """A name that is not declared: says which kind of thing, lists the valid names and the nearest one."""

    def __init__(self, kind: str, name: str, valid: Iterable[str], *, hint: str = "") -> None:
        names = sorted(valid)
        near = difflib.get_close_matches(name, names, n=1)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        listed = ", ".join(names) if names else "none are declared"
        super().__init__(f"Unknown {kind} '{name}'.{guess} Valid: {listed}.", hint=hint)
        self.kind = kind
        self.name = name
        self.valid = tuple(names)


class InvalidFile(UsageError):
    """A file that does not hold what it should; `place` is a line, a key path or a record id."""

    def __init__(self, path: object, problem: str, *, place: str = "", hint: str = "") -> None:
        where = f"{path}, {place}" if place else f"{path}"
        super().__init__(f"{where}: {problem}", hint=hint)
        self.path = str(path)
        self.place = place
        self.problem = problem


class InvalidRecord(InvalidFile):
    """One record of a transcript that cannot be read; readers may skip and count it.

    `field` is the key path inside the record and `raw` an excerpt of what was found, for the file of rejects.
    """

    def __init__(
        self, path: object, problem: str, *, place: str = "", field: str = "", raw: str = "", hint: str = ""
    ) -> None:
        where = f"{place}, field '{field}'" if place and field else place or (f"field '{field}'" if field else "")
        super().__init__(path, problem, place=where, hint=hint)
        self.place = place
        self.field = field
        self.raw = raw


class InvalidFlow(UsageError):
    """An authored flow that cannot run."""


class InvalidRule(UsageError):
    """A generation rule or a computation that cannot be used."""


class MissingExtra(UsageError):
    """An optional dependency that is not installed; the hint is the `pip install` line."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency.", hint=f"pip install 'dialoom[{extra}]'")
        self.extra = extra


class NothingToLearn(UsageError):
    """A corpus without a single usable dialogue."""


class RunError(DialoomError):
    """The input was fine and the run failed."""


class ModelError(RunError):
    """A language model call failed."""


class ModelTimeout(ModelError):
    """A language model gave no answer within its deadline."""

    retryable = True


class ModelUnavailable(ModelError):
    """A language model could not be reached: connection, rate limit, server error.

    `retry_after` is the wait in seconds the server asked for, if it did.
    """

    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """A language model server rejected the request as it stands."""


class InvalidOutput(ModelError):
    """An answer that breaks the constraint it was asked to obey: `text` is the answer, `problem` what breaks."""

    def __init__(self, model: str, text: str, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{model} broke the constraint: {problem}.", hint=hint)
        self.text = text
        self.problem = problem


class CassetteMiss(ModelError):
    """A replayed cassette holds no answer for a call."""


class SourceError(RunError):
    """A knowledge source failed or was too slow."""


class CallError(RunError):
    """An author's function raised, hung or returned the wrong type."""


class StoreError(RunError):
    """Sessions or events could not be read or written."""


class EmptyLanguage(RunError):
    """No true reply can be derived; the message names the nonterminal that could not be realised."""
