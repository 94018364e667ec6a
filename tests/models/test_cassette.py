"""Recording and replaying model calls."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import dialoom.models
from dialoom.errors import CassetteMiss, InvalidFile, UsageError
from dialoom.models.base import LanguageModel, Message, Request, Sampling
from dialoom.models.cassette import Cassette, cassette_schema
from dialoom.models.opening import open_model
from dialoom.models.scripted import ScriptedModel
from dialoom.testing.models import ASKED, ModelConformance

from .test_scripted import answered

SECRET = "sk-abcdef0123456789abcdef"


class TestConformance(ModelConformance):
    @pytest.fixture
    def model(self, tmp_path: Path) -> LanguageModel:
        return Cassette(tmp_path / "calls.json", ScriptedModel(answered), mode="auto")


async def test_that_a_recording_replays_without_its_model(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    recorder = Cassette(path, ScriptedModel(["one", "two"]), mode="record")
    recorded = [await recorder.generate(Request(ASKED)) for _ in range(2)]
    scores = await recorder.score(ASKED, ["my parcel", "no"])
    replayed = Cassette(path)
    assert [await replayed.generate(Request(ASKED, timeout=5)) for _ in range(2)] == recorded
    assert (await replayed.generate(Request(ASKED))).text == "two"
    assert await replayed.score(ASKED, ["my parcel", "no"]) == scores
    assert replayed.name == "scripted"
    assert replayed.capabilities == ScriptedModel().capabilities


async def test_that_keys_tokens_and_addresses_are_never_written(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    said = f"My key is {SECRET}, mail ann@example.org, Authorization: Bearer abcdefgh12345678, password=hunter22"
    request = Request((Message("user", said),))
    recorder = Cassette(path, ScriptedModel([f"Use {SECRET} or ann@example.org"]), mode="auto")
    recorded = await recorder.generate(request)
    written = path.read_text()
    for secret in (SECRET, "ann@example.org", "abcdefgh12345678", "hunter22"):
        assert secret not in written
    assert recorded.text == "Use <key> or <email>"
    assert await Cassette(path).generate(request) == recorded


async def test_that_a_miss_names_the_nearest_call_and_how_to_record(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    recorder = Cassette(path, ScriptedModel(), mode="auto")
    await recorder.generate(Request((Message("user", "Where is my parcel?"),)))
    await recorder.generate(Request((Message("user", "Cancel everything now"),)))
    asked = Request((Message("user", "Where is my parcel, please?"),), Sampling(max_tokens=9))
    with pytest.raises(CassetteMiss) as caught:
        await Cassette(path).generate(asked)
    message = str(caught.value)
    assert "nearest of 2 is 'Where is my parcel?'" in message
    assert "messages[0].content, sampling.max_tokens" in message
    assert "mode='auto'" in message
    with pytest.raises(CassetteMiss, match="score"):
        await Cassette(path).score(ASKED, ["a"])


async def test_that_recording_again_replaces_the_old_answers(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    await Cassette(path, ScriptedModel(["old"]), mode="record").generate(Request(ASKED))
    await Cassette(path, ScriptedModel(["new"]), mode="record").generate(Request(ASKED))
    assert (await Cassette(path).generate(Request(ASKED))).text == "new"
    inner = ScriptedModel(["never asked"])
    assert (await Cassette(path, inner, mode="auto").generate(Request(ASKED))).text == "new"
    assert not inner.requests


async def test_that_the_file_obeys_the_published_schema(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    recorder = Cassette(path, ScriptedModel(), mode="auto")
    await recorder.generate(Request(ASKED))
    await recorder.score(ASKED, ["a"])
    jsonschema.validate(json.loads(path.read_text()), cassette_schema())
    shipped = Path(dialoom.models.__file__).parent / "schemas" / "cassette.schema.json"
    assert json.loads(shipped.read_text()) == cassette_schema()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda file: file.update(version=2), "version"),
        (lambda file: file["calls"][0].update(kind="shout"), "calls/0"),
        (lambda file: file["calls"][0]["request"].update(model="other"), "calls/0/key"),
        (lambda file: file.update(surprise=1), "surprise"),
    ],
)
async def test_that_a_file_changed_by_hand_is_refused_with_its_place(
    tmp_path: Path, change: object, place: str
) -> None:
    path = tmp_path / "calls.json"
    await Cassette(path, ScriptedModel(), mode="auto").generate(Request(ASKED))
    file = json.loads(path.read_text())
    assert callable(change)
    change(file)
    path.write_text(json.dumps(file))
    with pytest.raises(InvalidFile, match=place):
        Cassette(path)


async def test_that_a_failed_call_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    recorder = Cassette(path, ScriptedModel({"fine": "yes"}), mode="auto")
    await recorder.generate(Request((Message("user", "fine"),)))
    before = path.read_bytes()
    with pytest.raises(Exception, match="no answer"):
        await recorder.generate(Request((Message("user", "other"),)))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["calls.json"]


def test_that_modes_need_what_they_need(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a model"):
        Cassette(tmp_path / "calls.json", mode="record")
    with pytest.raises(InvalidFile, match="no such cassette"):
        Cassette(tmp_path / "calls.json")


async def test_that_open_model_replays_and_records(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    recorded = await open_model(f"cassette:{path}#scripted").generate(Request(ASKED))
    assert await open_model(f"cassette:{path}").generate(Request(ASKED)) == recorded
    Cassette(path, ScriptedModel(), mode="auto")
    with pytest.raises(UsageError, match="not of other"):
        Cassette(path, ScriptedModel(name="other"), mode="auto")
