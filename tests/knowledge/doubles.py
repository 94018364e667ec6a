"""Small stand-ins: a model that answers from a list, sources that fail or sleep, a toy world with labelled turns."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Sequence

import numpy as np

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.base import Vectors
from dialoom.errors import ModelUnavailable, SourceError
from dialoom.knowledge.base import Evidence, Passage, Query
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.models.base import Capabilities, Completion, Request


def asking(*texts: str, user: str = "", dialogue: str = "d") -> Query:
    """A query whose turns alternate, the last one being the user's."""
    roles = [Role.USER if (len(texts) - i) % 2 else Role.SYSTEM for i in range(len(texts))]
    return Query(Dialogue(dialogue, tuple(Utterance(r, t) for r, t in zip(roles, texts, strict=True))), user)


class Answers:
    """A model that gives its answers one after the other, and keeps what it was asked."""

    name = "answers"
    capabilities = Capabilities(constraints=frozenset({"json_schema"}))

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Completion:
        self.requests.append(request)
        if not self.answers:
            raise ModelUnavailable("no answer left")
        return Completion(self.answers.pop(0))

    def stream(self, request: Request) -> AsyncIterator[str]:
        raise NotImplementedError


class Fixed:
    """A source with given passages, in order; may fail, or take its time."""

    def __init__(
        self,
        name: str,
        texts: Sequence[str] = (),
        *,
        depends_on: Sequence[str] = (),
        seconds: float = 0.0,
        fails: bool = False,
    ) -> None:
        self.name = name
        self.description = f"about {name.lower()}"
        self.depends_on = tuple(depends_on)
        self.asked: list[Query] = []
        self._texts = texts
        self._seconds = seconds
        self._fails = fails

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        self.asked.append(query)
        time.sleep(self._seconds)
        if self._fails:
            raise SourceError("it is closed")
        return [Evidence(self.name, Passage(f"{self.name}-{i}", t), 1 / (i + 1)) for i, t in enumerate(self._texts)][:n]


class LetterEncoder:
    """Counts of the letters a to z, as unit vectors; `calls` counts encoded texts."""

    dimension = 26

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        rows = np.zeros((len(texts), 26), dtype=np.float32)
        for i, text in enumerate(texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    rows[i, ord(letter) - 97] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.where(lengths > 0, rows / np.maximum(lengths, 1e-9), 0).astype(np.float32)


HOBBIES = {
    "chess": ("The chess champion {n} won in round {r}.", "A chess board has {r} dark squares for {n}."),
    "sailing": ("The boat {n} has {r} sails.", "Harbour {n} opens at {r}."),
    "baking": ("Bread {n} bakes for {r} minutes.", "Flour {n} costs {r} coins."),
    "running": ("The race {n} is {r} miles long.", "Shoe {n} weighs {r} grams."),
    "painting": ("The picture {n} took {r} days.", "Paint {n} dries in {r} hours."),
}


def toy_turns(dialogues: int, seed: int = 0) -> list[LabelledTurn]:
    """Dialogues about hobbies (source HOBBY) and facts that hang from them (FACTS); thanks need neither."""
    chance = random.Random(seed)
    turns = []
    for d in range(dialogues):
        chosen = chance.sample(sorted(HOBBIES), 3)
        hobbies = [Passage(f"h{i}", f"I enjoy {hobby}") for i, hobby in enumerate(chosen)]
        facts, names = [], {}
        for i, hobby in enumerate(chosen):
            for k, template in enumerate(HOBBIES[hobby]):
                name = "".join(chance.choices("bcdfgklmnprst", k=4))
                names[f"f{i}{k}"] = name
                facts.append(Passage(f"f{i}{k}", template.format(n=name, r=chance.randint(2, 99)), parents=(f"h{i}",)))
        pools = {"HOBBY": hobbies, "FACTS": facts}
        said: list[Utterance] = []
        plan: tuple[str, ...]
        gold: dict[str, frozenset[str]]
        for _ in range(4):
            kind = chance.choice(["null", "hobby", "facts"])
            i, k = chance.randrange(3), chance.randrange(2)
            if kind == "null":
                text, reply, plan, gold = (
                    chance.choice(["thanks a lot", "oh I see", "nice, thank you"]),
                    "Sure.",
                    (),
                    {},
                )
            elif kind == "hobby":
                text, reply = f"do you like {chosen[i]}?", f"Yes, I enjoy {chosen[i]}."
                plan, gold = ("HOBBY",), {"HOBBY": frozenset({f"h{i}"})}
            else:
                text, reply = f"what about {names[f'f{i}{k}']}, tell me a number", facts[2 * i + k].text
                plan = ("HOBBY", "FACTS")
                gold = {"HOBBY": frozenset({f"h{i}"}), "FACTS": frozenset({f"f{i}{k}"})}
            said.append(Utterance(Role.USER, text))
            turns.append(LabelledTurn(Dialogue(f"toy{seed}-{d}", tuple(said)), pools, plan, gold, reply))
            said.append(Utterance(Role.SYSTEM, reply))
    return turns
