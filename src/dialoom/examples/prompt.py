"""The prompt that shows examples: Command, Samples, Inquiry (S-ICL sec. 2.5), as named templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

from dialoom.dialogue import Dialogue, Role
from dialoom.errors import UsageError
from dialoom.examples.answers import cleaned
from dialoom.examples.base import Example
from dialoom.models.base import Message
from dialoom.models.templates import one_line, rendered, template_names, template_source

FENCES = ("example", "dialogue", "sample", "conversation")
"""Tags the shipped templates put around what people said; no utterance can open or close one."""


@dataclass(frozen=True, slots=True)
class Speakers:
    """What the roles are called in a domain: Customer and Agent, Student and Teacher."""

    user: str = "User"
    system: str = "System"
    tool: str = "Tool"

    def name(self, role: Role) -> str:
        """The name of a role."""
        return {Role.USER: self.user, Role.SYSTEM: self.system, Role.TOOL: self.tool}[role]


@dataclass(frozen=True, slots=True)
class Approach:
    """One way to answer with examples: its `template` (None: no model is asked), and how many samples it shows.

    With `fixed`, the same chosen sample is shown every time, in place of what a selector finds.
    """

    template: str | None
    samples: int
    fixed: bool = False


APPROACHES: Mapping[str, Approach] = MappingProxyType(
    {
        "s-icl-search": Approach(None, 1),
        "s-icl-zero-shot": Approach("s-icl-zero-shot", 0),
        "s-icl-fixed-sample": Approach("s-icl-fixed-sample", 1, fixed=True),
        "s-icl-three-samples": Approach("s-icl-three-samples", 3),
        "s-icl-one-sample": Approach("s-icl-one-sample", 1),
        "dfa-rag": Approach("dfa-rag", 5),
    }
)
"""The five approaches of S-ICL (sec. 3.2, in its order), and DFA-RAG's (App. A, at most five examples: App. B)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and what became of the examples: those it shows, and how many the budget left out.

    `tokens` is what the token counter says of `messages`; `stop` are texts at which the next speaker would begin.
    """

    messages: tuple[Message, ...]
    examples: tuple[Example, ...]
    dropped: int
    tokens: int
    stop: tuple[str, ...]
    number: int
    speakers: Speakers

    def reply(self, answer: str) -> str:
        """The agent's reply inside a model's answer to this prompt (see `dialoom.examples.answers`)."""
        others = (self.speakers.user, self.speakers.tool)
        return cleaned(answer, agent=self.speakers.system, others=others, number=self.number)


def estimated_tokens(text: str) -> int:
    """A rough count of tokens: one for each 4 bytes of UTF-8, rounded up. English comes out a little high."""
    return -(-len(text.encode()) // 4)


class PromptBuilder:
    """Fills a named template with the conversation so far and the examples that fit.

    `folder` holds own templates, which come before shipped ones of the same name. `budget` is the most tokens of a
    prompt as `count` counts them (4 more for each message); examples are dropped whole, from the end, until it fits,
    and beyond the number of `APPROACHES` that the template has there.
    Of the conversation the `last` utterances are shown.
    """

    def __init__(
        self,
        template: str = "dfa-rag",
        *,
        speakers: Speakers = Speakers(),
        folder: Path | None = None,
        budget: int = 1500,
        count: Callable[[str], int] = estimated_tokens,
        last: int = 20,
    ) -> None:
        self.template = template
        self.speakers = speakers
        self.budget = budget
        self._source = template_source("dialoom.examples", template, folder)
        self._count = count
        self._last = last

    def build(self, conversation: Dialogue, examples: Sequence[Example] = ()) -> Prompt:
        """The prompt for the next reply in `conversation`; `examples` come best first.

        Raises `UsageError` when the conversation alone exceeds the budget, or is empty.
        """
        if not conversation.utterances:
            raise UsageError("There is no conversation to continue: it has no utterance.")
        approach = APPROACHES.get(self.template)
        most = min(len(examples), approach.samples) if approach else len(examples)
        for kept in range(most, -1, -1):
            messages = self._filled(conversation, examples[:kept])
            tokens = sum(self._count(message.content) + 4 for message in messages)
            if tokens <= self.budget:
                number = len(conversation)
                stop = (f"\n{self.speakers.user}:", f"\n{number + 1} {self.speakers.user}:")
                shown = tuple(examples[:kept])
                return Prompt(messages, shown, len(examples) - kept, tokens, stop, number, self.speakers)
        raise UsageError(
            f"The conversation alone takes {tokens} tokens of a prompt, and {self.budget} are allowed.",
            hint="Raise the budget, or show fewer of its last utterances.",
        )

    def _filled(self, conversation: Dialogue, examples: Sequence[Example]) -> tuple[Message, ...]:
        values = {
            "speakers": asdict(self.speakers),
            "samples": [self._lines(example.dialogue, 0) for example in examples],
            "conversation": self._lines(conversation, max(0, len(conversation) - self._last)),
            "open": {"number": len(conversation), "speaker": self.speakers.system},
        }
        return rendered(self._source, values, f"{self.template}.j2")

    def _lines(self, dialogue: Dialogue, first: int) -> list[dict[str, object]]:
        return [
            {"number": number, "speaker": self.speakers.name(utterance.role), "text": one_line(utterance.text, FENCES)}
            for number, utterance in enumerate(dialogue.utterances)
            if number >= first
        ]


def prompt_names(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the prompt templates: the shipped ones and those of `folder`."""
    return template_names("dialoom.examples", folder)
