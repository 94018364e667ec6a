"""A shoe store that answers from its policies, its catalogue, care advice and what customers said about themselves.

Runs offline, without a language model: a rule planner, BM25 indexes, and replies in the sources' own words; the stock
is a table, described by rules that cannot say what it does not hold.

    python examples/store/app.py
    dialoom chat examples/store/store.yaml --app examples/store/app.py
"""

from __future__ import annotations

import asyncio
import csv
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from dialoom import Dialogue, Role, Utterance
from dialoom.agent.answering import KnowledgeAnswerer
from dialoom.agent.describing import DomainDescriber
from dialoom.dataflow import Computation
from dialoom.domains.table import open_table, table_library
from dialoom.flows import Application
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
    RulePlanner,
    folder_passages,
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


def stock() -> Path:
    """The stock list as a SQLite file."""
    path = Path(tempfile.mkdtemp()) / "stock.sqlite"
    with closing(sqlite3.connect(path)) as connection, (HERE / "stock.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
        connection.execute("create table stock (name text, price integer, pairs integer)")
        connection.executemany("insert into stock values (?, ?, ?)", rows)
        connection.commit()
    return path


WORDS = {"price": "costs {value} euros", "pairs": "is there in {value} pairs"}
memory = Memory()
store = KnowledgeAnswerer(open_store(memory), memory)
app = Application(describer=DomainDescriber(open_table(stock(), "stock", singular="shoe", verbs=WORDS)), answerer=store)


@app.computation
def within_budget(budget: int) -> Computation:
    """The shoes that cost no more."""
    return table_library.call("rows", table_library.call("where", "price", "<=", budget))


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
    for customer, said in TURNS:
        turn = Dialogue("store", (Utterance(Role.USER, said),))
        print(f"{customer}: {said}\nstore: {asyncio.run(store.answer(turn, customer, None)).text}")
