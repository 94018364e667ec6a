"""One simulated conversation: a user with a goal talks to an agent or a flow until the goal is reached."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dialoom.dialogue import Dialogue
from dialoom.errors import RunError, UsageError
from dialoom.evaluation.simulation.goals import Goal
from dialoom.evaluation.simulation.metering import Called, Metered
from dialoom.evaluation.simulation.partners import Conversation, Heard, Partner
from dialoom.evaluation.simulation.users import ModelUser, User
from dialoom.models.scrubbing import scrubbed


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said, whether and after how many agent turns the goal was reached, and what it took.

    `repairs` are turns in which one side had to ask again, `fallbacks` those in which the agent's model had failed,
    `conforming` those that went as a flow's author foresaw
    (None without a flow). `called` are the agent's model calls, `played` those of a model that plays the user,
    `milliseconds` the agent's turns. `failed` says why a talk broke off.
    """

    goal: str
    domain: str
    dialogue: Dialogue
    reached: bool
    turns: int
    repairs: int = 0
    fallbacks: int = 0
    hand_off: bool = False
    conforming: int | None = None
    called: tuple[Called, ...] = ()
    played: tuple[Called, ...] = ()
    milliseconds: tuple[float, ...] = ()
    failed: str = ""


async def simulate(partner: Partner, user: User, goal: Goal, *, most: int = 12) -> Talk:
    """One conversation of at most `most` agent turns after the greeting.

    A model of either side that fails ends it, and `failed` tells why. Raises `UsageError` for a goal about the memory
    of an agent that has none.
    """
    chat = partner.begin(f"simulated-{goal.id}")
    if goal.memory and chat.memory is None:
        raise UsageError(
            f"Goal '{goal.id}' is reached by what a flow remembers, and a learned agent remembers no slots.",
            hint="Say in `reached` what the agent says then.",
        )
    meter = Metered(user.model) if isinstance(user, ModelUser) else None
    player = ModelUser(meter, user.timeout) if meter is not None and isinstance(user, ModelUser) else user
    heard, repairs, failed = await _held(chat, player, goal, most)
    judged = [turn.conforming for turn in heard if turn.conforming is not None]
    return Talk(
        goal=goal.id,
        domain=goal.domain,
        dialogue=chat.dialogue,
        reached=_met(goal, heard, chat),
        turns=len(heard),
        repairs=repairs,
        fallbacks=sum(turn.fallback for turn in heard),
        hand_off=bool(heard) and _handed(goal, heard[-1]),
        conforming=sum(judged) if judged else None,
        called=tuple(call for turn in heard for call in turn.called),
        played=tuple(meter.called) if meter is not None else (),
        milliseconds=tuple(turn.milliseconds for turn in heard),
        failed=failed,
    )


async def _held(chat: Conversation, user: User, goal: Goal, most: int) -> tuple[list[Heard], int, str]:
    """The agent's turns after its greeting, the turns with a repair, and why the talk broke off, if it did."""
    heard: list[Heard] = []
    repairs = 0
    try:
        first = await chat.open()
        over = first is not None and (first.closed or first.handed_over)
        while not over and len(heard) < most:
            line = await user.say(goal, chat.dialogue)
            if line is None:
                break
            turn = await chat.say(line.text)
            heard.append(turn)
            repairs += line.repair or turn.repair
            over = turn.closed or _handed(goal, turn) or _met(goal, heard, chat)
    except (RunError, TimeoutError) as error:
        return heard, repairs, scrubbed(str(error) or type(error).__name__)
    return heard, repairs, ""


def _handed(goal: Goal, turn: Heard) -> bool:
    return turn.handed_over or goal.hands_over(turn.text)


def _met(goal: Goal, heard: list[Heard], chat: Conversation) -> bool:
    return bool(heard) and goal.met("\n".join(turn.text for turn in heard), chat.memory)


def talk_json(talk: Talk) -> dict[str, Any]:
    """A talk as JSON values."""
    said = [{"role": utterance.role.value, "text": utterance.text} for utterance in talk.dialogue.utterances]
    told = {name: getattr(talk, name) for name in Talk.__dataclass_fields__ if name != "dialogue"}
    calls = {name: [asdict(call) for call in getattr(talk, name)] for name in ("called", "played")}
    return {**told, **calls, "id": talk.dialogue.id, "utterances": said}
