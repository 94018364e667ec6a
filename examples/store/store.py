"""A shoe store that answers from its policies, its catalogue, care advice and what customers said about themselves.

Runs offline, without a language model: a rule planner, BM25 indexes, and replies in the sources' own words.

    python examples/store/store.py
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from dialoom import Dialogue, Role, Utterance
from dialoom.knowledge import (
    Answerer,
    ExtractiveReader,
    GatherSettings,
    IndexedSource,
    Knowledge,
    LexicalConsistency,
    LexicalRelevance,
    Memory,
    MemorySource,
    Query,
    RulePlanner,
    folder_passages,
    read_turn,
    record_passages,
)

HERE = Path(__file__).parent

PLANNER = RulePlanner(
    {
        "POLICIES": r"return|refund|ship|deliver|repair|resole|open|exchange|parcel",
        "CATALOGUE": r"price|cost|how much|sell|boot|sandal|running|hiking",
        "CARE": r"\bclean|\bwash|care|\bgrease|\bdry\b",
        "MEMORY": r"\bmy size|remember|know about me",
    }
)


def open_store(memory: Memory) -> Answerer:
    """Everything the store knows, ready to answer."""
    sources = [
        IndexedSource(
            "POLICIES", "Returns, repairs, shipping, opening hours.", folder_passages(HERE / "policies", size=240)
        ),
        IndexedSource(
            "CATALOGUE",
            "Shoes with price, sizes and description.",
            record_passages(HERE / "catalogue.jsonl", key="sku", text=["card"]),
        ),
        IndexedSource(
            "CARE",
            "How to look after a shoe of the catalogue.",
            record_passages(HERE / "care.csv", key="id", text=["advice"], parents="for"),
            depends_on=["CATALOGUE"],
        ),
        MemorySource("MEMORY", "What the customer said about themselves.", memory),
    ]
    knowledge = Knowledge(sources, PLANNER, LexicalRelevance(), GatherSettings(top=1, candidates=3, least=0.1))
    return Answerer(knowledge, ExtractiveReader(sentences=1), LexicalConsistency())


def ask(store: Answerer, memory: Memory, user: str, text: str) -> str:
    """One turn: let memory learn from the customer's own words, then answer from what is known."""
    remarks = read_turn(memory, user, text)
    for remark in remarks:
        if remark.kind == "ask":
            return remark.question
        if remark.kind == "forgotten":
            return f"I have forgotten {remark.subject}."
    if remarks:
        return "Thank you, I will remember that."
    turn = Dialogue("store", (Utterance(Role.USER, text),))
    return asyncio.run(store.answer(Query(turn, user))).text


TURNS = [
    ("ann", "Can I return shoes that I have not worn?"),
    ("ann", "How much is the Birch running shoe?"),
    ("ann", "How do I clean the Alder hiking boot?"),
    ("ann", "My shoe size is 41."),
    ("bob", "Do you remember my size?"),
    ("ann", "Do you remember my size?"),
    ("ann", "Please forget my shoe size."),
    ("ann", "Do you sell umbrellas?"),
    ("ann", "Thank you!"),
]

if __name__ == "__main__":
    remembered = Memory()
    opened = open_store(remembered)
    for customer, said in TURNS:
        print(f"{customer}: {said}\nstore: {ask(opened, remembered, customer, said)}")
