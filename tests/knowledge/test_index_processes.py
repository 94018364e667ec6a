"""Several processes on one index, and processes that are killed while they write it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dialoom
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes import PassageIndex

from .doubles import LetterEncoder

TESTS = Path(__file__).parents[1]

KILLED = """
import os, signal, sys
import dialoom.knowledge.indexes.index as module
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes.passages import StoreUpdate
from dialoom.knowledge.indexes.snapshot import Snapshot
from knowledge.doubles import LetterEncoder

folder, stage = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def after(call):
    def both(*given, **named):
        call(*given, **named)
        die()
    return both

def passages():
    yield Passage("a", "new apples")
    if stage == "storing":
        die()
    yield Passage("b", "new bananas")
    yield Passage("d", "new dates")

index = module.PassageIndex(folder, encoder=(encoder := LetterEncoder()))
if stage == "encoding":
    encoder.encode = die
elif stage == "writing":
    Snapshot.save = die
elif stage == "written":
    Snapshot.save = after(Snapshot.save)
elif stage == "numbered":
    StoreUpdate.set_revision = after(StoreUpdate.set_revision)
elif stage == "committed":
    Snapshot.load = die
index.update(passages(), remove=["c"])
"""

WRITER = """
import sys
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes import PassageIndex
from knowledge.doubles import LetterEncoder

folder, name, times = sys.argv[1:]
index = PassageIndex(folder, encoder=LetterEncoder())
for i in range(int(times)):
    pair = [Passage("left", f"pair of {name} {i}"), Passage("right", f"pair of {name} {i}")]
    index.update([*pair, Passage(f"{name}{i}", f"alone {name} {i}")])
index.close()
"""


def start(script: str, *given: object) -> subprocess.Popen[bytes]:
    paths = (str(Path(dialoom.__file__).parents[1]), str(TESTS))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, given)], env=environment)


def opened(folder: Path) -> PassageIndex:
    return PassageIndex(folder, encoder=LetterEncoder())


def contents(index: PassageIndex) -> dict[str, str]:
    """What both kinds of search together find; each passage must be known to both."""
    hits = index.search("new old apples bananas cherries dates", 10)
    assert all(set(hit.parts) == {"bm25", "cosine"} for hit in hits)
    assert len(hits) == len(index)
    return {hit.passage.id: hit.passage.text for hit in hits}


OLD = {"a": "old apples", "b": "old bananas", "c": "old cherries"}
NEW = {"a": "new apples", "b": "new bananas", "d": "new dates"}


@pytest.mark.parametrize(
    ("stage", "left"),
    [
        ("storing", OLD),
        ("encoding", OLD),
        ("writing", OLD),
        ("written", OLD),
        ("numbered", OLD),
        ("committed", NEW),
    ],
)
def test_that_a_kill_in_an_update_leaves_the_old_index_or_the_new(
    tmp_path: Path, stage: str, left: dict[str, str]
) -> None:
    index = opened(tmp_path)
    index.replace(Passage(key, text) for key, text in OLD.items())
    index.close()
    assert start(KILLED, tmp_path, stage).wait() == -9
    again = opened(tmp_path)
    assert contents(again) == left
    again.replace(Passage(key, text) for key, text in NEW.items())
    assert contents(again) == NEW
    assert len(list(tmp_path.glob("revision-*"))) == 1 + (stage == "committed")  # one more write clears up
    again.close()


def test_that_two_processes_write_one_index_in_turn_and_readers_see_whole_updates(tmp_path: Path) -> None:
    times = 6
    writers = [start(WRITER, tmp_path, name, times) for name in ("ann", "bob")]
    reader = opened(tmp_path)
    seen = set()
    while any(writer.poll() is None for writer in writers):
        pair = {hit.passage.id: hit.passage.text for hit in reader.search("pair", 2)}
        assert set(pair) in (set(), {"left", "right"})
        assert len(set(pair.values())) <= 1
        seen.add(next(iter(pair.values()), ""))
        time.sleep(0.005)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(seen) > 2
    everyone = {hit.passage.id for hit in reader.search("alone", 100)}
    assert everyone >= {f"{name}{i}" for name in ("ann", "bob") for i in range(times)}
    assert len(reader) == 2 * times + 2
    assert len(list(tmp_path.glob("revision-*"))) == 1
    reader.close()
