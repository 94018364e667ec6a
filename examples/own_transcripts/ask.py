"""Learn from a telephone system's CSV export and ask what the desk would say."""

from __future__ import annotations

import sys
from pathlib import Path

from dialoom import Agent, ReadOptions, learn, open_corpus

CALLS = Path(__file__).with_name("clinic.csv")
COLUMNS = {"conversation": "call", "role": "who", "text": "said"}
ROLES = {"patient": "user", "agent": "system"}


def main(said: list[str]) -> None:
    """Hold a conversation in which the person says each line of `said`."""
    model = learn(open_corpus(CALLS, "csv", ReadOptions(columns=COLUMNS, roles=ROLES)))
    chat = Agent(model).chat()
    for line in said:
        turn = chat.say(line)
        print(f"you> {line}\ndesk> {turn.text}")
        for example in turn.examples[:3]:
            print(f"       like {example.dialogue.id}: {example.reply_text}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["Hello, I have to move my appointment to another day."])
