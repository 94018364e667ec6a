from pathlib import Path

import pytest

from dialoom.corpora import ReadOptions, open_corpus
from dialoom.dialogue import Dialogue, Role
from dialoom.errors import InvalidFile, InvalidRecord, UnknownName


def table(tmp_path: Path, text: str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, **options: dict[str, str]) -> list[Dialogue]:
    return list(open_corpus(path, "csv", ReadOptions(**options)))  # type: ignore[arg-type]


def test_that_columns_and_speakers_can_be_mapped(tmp_path: Path) -> None:
    path = table(tmp_path, "who;line;case no\nJoan;Hello;7\nCaller 1;Hi;7\n")
    columns = {"conversation": "case no", "role": "who", "text": "line"}
    (dialogue,) = read(path, columns=columns, roles={"Joan": "system", "Caller 1": "user"})
    assert dialogue.id == "7"
    assert [u.role for u in dialogue.utterances] == [Role.SYSTEM, Role.USER]


@pytest.mark.parametrize("form", ["auto", "csv"])
def test_that_mapped_columns_hold_for_every_table_of_a_folder(tmp_path: Path, form: str) -> None:
    table(tmp_path, "who,line,case\nuser,Hi,1\n", "a.csv")
    table(tmp_path, "who,line,case\nuser,Ho,2\n", "b.csv")
    table(tmp_path, "nothing\n", "notes.txt")
    options = ReadOptions(columns={"conversation": "case", "role": "who", "text": "line"})
    corpus = open_corpus(tmp_path, form, options)
    assert [dialogue.id for dialogue in corpus] == ["1", "2"]
    assert len(corpus.counts.ignored) == 1


def test_that_columns_that_are_not_recognised_are_listed(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"conversation or role; the columns are: who, text") as caught:
        read(table(tmp_path, "who,text\na,b\n"))
    assert "conversation=ticket" in caught.value.hint


def test_that_a_mapping_to_an_absent_column_names_the_columns(tmp_path: Path) -> None:
    path = table(tmp_path, "id,speaker,text\n1,user,x\n")
    with pytest.raises(UnknownName, match="Valid: id, speaker, text"):
        read(path, columns={"conversation": "idd"})
    with pytest.raises(UnknownName, match="column meaning 'speaker'"):
        read(path, columns={"speaker": "speaker"})


def test_that_an_unknown_speaker_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=r"line 2, field 'role'.*found 'Joan'.*roles="):
        read(table(tmp_path, "session_id,role,text\n1,Joan,x\n"))


def test_that_a_row_with_other_columns_names_its_line(tmp_path: Path) -> None:
    path = table(tmp_path, 'session_id,role,text\n1,user,"a\nb"\n1,user\n1,agent,ok\n')
    corpus = open_corpus(path, "csv", on_error="skip")
    (dialogue,) = corpus
    assert [u.text for u in dialogue.utterances] == ["a\nb", "ok"]
    assert corpus.counts.skipped == 1
    with pytest.raises(InvalidRecord, match="line 4: expected 3 columns, found 2"):
        read(path)


def test_that_times_are_understood_in_several_forms(tmp_path: Path) -> None:
    rows = "1,user,c,06/01/2024 10:00\n1,user,a,2024-05-01T10:00:00Z\n1,user,b,1714600000\n"
    (dialogue,) = read(table(tmp_path, f"session_id,role,text,time\n{rows}"))
    assert [u.text for u in dialogue.utterances] == ["a", "b", "c"]


def test_that_a_time_that_is_none_is_an_error_and_can_be_unmapped(tmp_path: Path) -> None:
    path = table(tmp_path, "session_id,role,text,time\n1,user,b,later\n1,user,a,sooner\n")
    with pytest.raises(InvalidRecord, match="field 'time': expected a time"):
        read(path)
    (dialogue,) = read(path, columns={"timestamp": ""})
    assert [u.text for u in dialogue.utterances] == ["b", "a"]


def test_that_inbound_flags_tell_who_speaks(tmp_path: Path) -> None:
    (dialogue,) = read(table(tmp_path, "thread_id,inbound,text\n1,True,hi\n1,False,hello\n"))
    assert [u.role for u in dialogue.utterances] == [Role.USER, Role.SYSTEM]


def test_that_a_file_is_never_held_whole(tmp_path: Path) -> None:
    rows = "".join(f"{n // 4},user,line {n}\n" for n in range(4000))
    corpus = open_corpus(table(tmp_path, "session_id,role,text\n" + rows), "csv")
    assert next(corpus).id == "0"
    assert [int(dialogue.id) for dialogue in corpus] == list(range(1, 1000))
