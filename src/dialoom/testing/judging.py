"""Judged expectations: a model says whether a statement about a reply is true. Chance, told apart from law."""

from __future__ import annotations

from dataclasses import dataclass

from dialoom.models.base import Constraint, LanguageModel, Message, Request, Sampling

PROMPT = """Judge one reply of an assistant. Answer yes or no.
The user said: {user}
The assistant replied: {reply}
Statement: {statement}
Is the statement true of the reply?"""


@dataclass(frozen=True, slots=True)
class Judge:
    """A model as a judge."""

    model: LanguageModel
    timeout: float = 60.0

    async def agrees(self, user: str, reply: str, statement: str) -> bool:
        """Whether the model agrees with the statement. Raises `ModelError` when it cannot be asked."""
        choices = "choice" in self.model.capabilities.constraints
        request = Request(
            (Message("user", PROMPT.format(user=user, reply=reply, statement=statement)),),
            Sampling(max_tokens=4),
            Constraint("choice", ("yes", "no")) if choices else None,
            self.timeout,
        )
        return (await self.model.generate(request)).text.strip().casefold().startswith("yes")
