"""What every adapter does with a request before the call, and with the answer after it."""

from __future__ import annotations

from dialoom.errors import InvalidOutput, UnknownName, UsageError
from dialoom.models.base import Capabilities, FinishReason, Request
from dialoom.models.constraints import Compiled, compiled

ROLES = ("system", "user", "assistant", "tool")


def prepared(name: str, capabilities: Capabilities, request: Request) -> Compiled | None:
    """The request's constraint, compiled, once the request is known to be one that `name` can serve.

    Raises `UsageError` for no messages, only empty messages, an unknown role, sampling out of range, limits that are
    not positive, or a constraint that is invalid or outside `capabilities`. Engines accept most of these silently.
    """
    if not any(message.content.strip() for message in request.messages):
        raise UsageError(f"{name} was asked with no message, or only empty ones.", hint="Send at least one message.")
    for message in request.messages:
        if message.role not in ROLES:
            raise UnknownName("message role", message.role, ROLES)
    sampling = request.sampling
    if sampling.max_tokens < 1:
        raise UsageError(f"max_tokens is {sampling.max_tokens}; at least 1 is needed.")
    if not (sampling.temperature >= 0 and 0 < sampling.top_p <= 1):
        raise UsageError(
            f"The temperature is {sampling.temperature} and top_p is {sampling.top_p}.",
            hint="A temperature is 0 or more, and top_p above 0 and at most 1.",
        )
    if not request.timeout > 0:
        raise UsageError(f"The timeout is {request.timeout} seconds; it must be positive.")
    if request.constraint is None:
        return None
    if request.constraint.kind not in capabilities.constraints:
        valid = ", ".join(sorted(capabilities.constraints)) or "none"
        raise UsageError(f"{name} cannot obey a {request.constraint.kind} constraint. It can obey: {valid}.")
    if sampling.stop:
        raise UsageError("A constraint and stop texts exclude each other.", hint="Let the grammar say where to end.")
    return compiled(request.constraint)


def verified(name: str, constraint: Compiled | None, text: str, finish: FinishReason, max_tokens: int) -> None:
    """Raise `InvalidOutput` when `text` breaks the constraint."""
    problem = constraint.problem(text) if constraint is not None else ""
    if problem:
        hint = f"It was cut at max_tokens ({max_tokens}); allow more." if finish == "length" else ""
        raise InvalidOutput(name, text, problem, hint=hint)
