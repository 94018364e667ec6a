"""Made-up transcripts of a shop and a hotel with known workflows: what learning should find again."""

from __future__ import annotations

import random
from collections.abc import Iterator

from dialoom.dialogue import Dialogue, Role, Utterance

_NAMES = ["Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jo"]

_SAID = {
    "greet": ("hello there", "hi", "good morning", "hey, hello"),
    "want refund": (
        "I want my money back for a broken lamp",
        "please refund my broken kettle",
        "my order broke, refund?",
    ),
    "want room": ("I need a room for tonight", "can I book a double room", "a room for two nights please"),
    "order number": ("it is number {n}", "order {n}", "the order number is {n}"),
    "name": ("my name is {name}", "{name}", "I am {name}"),
    "yes": ("yes please", "yes", "sure, go ahead"),
    "thanks": ("thanks a lot", "thank you so much", "great, thanks"),
}
_REPLIES = {
    "hello": ("Hello, how can I help you today?", "Welcome! How can I help you today?"),
    "ask_order": ("What is the number of your order?", "Could you tell me the number of your order?"),
    "ask_name": ("What is your name, please?", "May I have your name, please?"),
    "offer_refund": ("Thank you {name}, I can refund {n} dollars. Shall I do that?",),
    "refuse_refund": ("I am sorry {name}, order {n} is too old for a refund.",),
    "offer_room": ("There is a room free, {name}, for {n} dollars. Shall I book it?",),
    "confirm_refund": ("Done, the refund is on its way.",),
    "confirm_room": ("Done, your room is booked.",),
    "goodbye": ("Goodbye, have a nice day!",),
}


def dialogues(count: int, seed: int = 0) -> list[Dialogue]:
    """`count` conversations that take turns between two workflows; system turns carry their action."""
    return [_dialogue(number, random.Random(f"{seed}:{number}")) for number in range(count)]  # noqa: S311 - no secret


def _dialogue(number: int, draw: random.Random) -> Dialogue:
    refund = number % 2 == 0
    name, n = draw.choice(_NAMES), str(draw.randint(10, 999))

    def user(kind: str) -> Utterance:
        return Utterance(Role.USER, draw.choice(_SAID[kind]).format(name=name, n=n))

    def system(action: str) -> Utterance:
        return Utterance(Role.SYSTEM, draw.choice(_REPLIES[action]).format(name=name, n=n), action=action)

    def turns() -> Iterator[Utterance]:
        yield from (user("greet"), system("hello"), user("want refund" if refund else "want room"))
        yield from (system("ask_order"), user("order number")) if refund else ()
        yield from (system("ask_name"), user("name"))
        tool = "refunds" if refund else "rooms"
        good = not refund or draw.random() < 0.5
        yield Utterance(Role.TOOL, f"call {tool}", annotations={"tool": tool, "kind": "call", "arguments": {"n": n}})
        outcome = "allowed" if good else "too old"
        yield Utterance(
            Role.TOOL, outcome, annotations={"tool": tool, "kind": "result", "outcome": outcome, "count": int(good)}
        )
        if good:
            yield from (system("offer_refund" if refund else "offer_room"), user("yes"))
            yield system("confirm_refund" if refund else "confirm_room")
        else:
            yield system("refuse_refund")
        yield from (user("thanks"), system("goodbye"))

    task = "refund" if refund else "room"
    return Dialogue(f"d{number:03}", tuple(turns()), {"tasks": [task], "happy": True, "completion": "Complete"})
