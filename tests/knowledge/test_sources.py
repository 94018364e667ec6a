import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile, InvalidRecord, SourceError, UnknownName, UsageError
from dialoom.knowledge.base import Evidence, Passage, Query
from dialoom.knowledge.gather import GatherSettings, Knowledge
from dialoom.knowledge.planning.fixed import AlwaysPlanner
from dialoom.knowledge.relevance import LexicalRelevance
from dialoom.knowledge.sources import (
    CallSource,
    HttpCall,
    IndexedSource,
    dialogue_passages,
    folder_passages,
    record_passages,
    table_passages,
)

from .doubles import asking

POLICY = """# Returns

Shoes go back within thirty days.

## Sale items

Sale items cannot be returned.

# Shipping

We ship on weekdays.
"""


def test_that_markdown_is_chunked_with_its_headings_and_offsets(tmp_path: Path) -> None:
    pytest.importorskip("semantic_text_splitter")
    (tmp_path / "policy.md").write_text(POLICY)
    (tmp_path / ".hidden.md").write_text("secret")
    found = list(folder_passages(tmp_path, size=60))
    assert all(POLICY[p.start : p.end] == p.text for p in found)
    sale = next(p for p in found if "cannot" in p.text)
    assert sale.metadata["title"] == "Returns / Sale items"
    assert sale.origin == "policy.md"
    assert not any("secret" in p.text for p in found)


def test_that_html_gives_its_text_without_scripts(tmp_path: Path) -> None:
    pytest.importorskip("bs4")
    pytest.importorskip("semantic_text_splitter")
    (tmp_path / "page.html").write_text("<h1>Hours</h1><script>var x = 'evil'</script><p>Open <b>daily</b>.</p>")
    text = " ".join(p.text for p in folder_passages(tmp_path))
    assert "Hours" in text
    assert "daily" in text
    assert "evil" not in text


def test_that_html_keeps_a_sentence_on_one_line_and_blocks_apart(tmp_path: Path) -> None:
    pytest.importorskip("bs4")
    pytest.importorskip("semantic_text_splitter")
    (tmp_path / "a.html").write_text(
        "<!DOCTYPE html><!-- draft --><p>Gift <b>cards</b>\n never <i>ex</i>pire.<br>Ask us.</p>"
        "<ul><li>one<li>two</ul><table><tr><td>Boot</td><td>80 <b>euros</b></td></tr></table>"
    )
    (found,) = folder_passages(tmp_path)
    assert found.text == "Gift cards never expire.\nAsk us.\none\ntwo\nBoot\t80 euros"


def test_that_word_documents_give_paragraphs_and_tables(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    pytest.importorskip("semantic_text_splitter")
    document = docx.Document()
    document.add_paragraph("Boots are resoled.")
    document.add_table(1, 2).rows[0].cells[0].text = "Price"
    document.save(str(tmp_path / "list.docx"))
    text = " ".join(p.text for p in folder_passages(tmp_path))
    assert "resoled" in text
    assert "Price" in text


def test_that_a_broken_pdf_names_the_file(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 nothing more")
    with pytest.raises(InvalidFile, match=r"bad\.pdf"):
        list(folder_passages(tmp_path))


def test_that_a_pdf_gives_the_text_of_its_pages(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    pytest.importorskip("semantic_text_splitter")
    (tmp_path / "hours.pdf").write_bytes(pdf("We open at nine.", "We close at six."))
    (found,) = folder_passages(tmp_path)
    assert found.text == "We open at nine.\n\nWe close at six."
    assert (found.id, found.start, found.end) == ("hours.pdf#0", 0, len(found.text))


def pdf(*pages: str) -> bytes:
    """A small PDF with one line of text a page."""
    font = 3 + 2 * len(pages)
    kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for i, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * i} 0 R"
            f" /Resources << /Font << /F1 {font} 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    body, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + (end + trailer).encode()


def test_that_plain_text_is_cut_where_sentences_end(tmp_path: Path) -> None:
    pytest.importorskip("semantic_text_splitter")
    (tmp_path / "deep").mkdir()
    text = "We open at nine. We close at six. On Sunday we are closed."
    (tmp_path / "deep" / "opening_hours.txt").write_text(text)
    found = list(folder_passages(tmp_path, size=35))
    assert len(found) > 1
    assert all(text[p.start : p.end] == p.text and len(p.text) <= 35 for p in found)
    assert {p.metadata["title"] for p in found} == {"opening hours"}
    assert found[0].id == "deep/opening_hours.txt#0"


def test_that_a_missing_folder_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        list(folder_passages(tmp_path / "nowhere"))


def test_that_records_become_passages_with_links_and_owners(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.jsonl"
    rows = [
        {"sku": "b1", "name": "Boot", "price": 80, "kind": ["shoes"], "who": "ann"},
        {"sku": "b2", "name": "Belt", "price": 9, "kind": [], "who": None},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    first, second = record_passages(path, key="sku", text=["name", "price"], parents="kind", owner="who")
    assert (first.id, first.text, first.parents, first.owner) == ("b1", "name: Boot\nprice: 80", ("shoes",), "ann")
    assert (second.parents, second.owner, second.origin) == ((), "", "catalogue.jsonl:2")


@pytest.mark.parametrize("misspelt", [{"owner": "user"}, {"parents": "model"}])
def test_that_a_misspelt_owner_or_link_never_makes_a_record_everyones(tmp_path: Path, misspelt: dict[str, str]) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("id,text,who\n1,Ann's order,ann\n")
    with pytest.raises(InvalidRecord, match=f"the field '{min(misspelt.values())}' is missing; it has id, text, who"):
        list(record_passages(path, key="id", text=["text"], **misspelt))


def test_that_csv_rows_become_passages(tmp_path: Path) -> None:
    path = tmp_path / "faq.csv"
    path.write_text('id,answer\n1,"Yes, we do."\n')
    assert [(p.id, p.text) for p in record_passages(path, key="id")] == [("1", "Yes, we do.")]


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("a.jsonl", '{"id": "1"}\nnot json', "line 2"),
        ("a.jsonl", "[1]", "JSON object"),
        ("a.jsonl", '{"x": 1}', "'id' is missing"),
        ("a.csv", "id,b\n1\n", "header"),
    ],
)
def test_that_a_bad_record_names_its_line(tmp_path: Path, name: str, body: str, message: str) -> None:
    (tmp_path / name).write_text(body)
    with pytest.raises(InvalidRecord, match=message):
        list(record_passages(tmp_path / name, key="id"))


def test_that_database_rows_become_passages() -> None:
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE stock (sku TEXT, note TEXT)")
        db.execute("INSERT INTO stock VALUES ('b1', 'three pairs left')")
        found = list(table_passages(db, "SELECT sku, note FROM stock", key="sku", text=["note"]))
        assert [(p.id, p.text) for p in found] == [("b1", "three pairs left")]
        with pytest.raises(UnknownName, match="skuu"):
            list(table_passages(db, "SELECT sku FROM stock", key="skuu"))
        with pytest.raises(UsageError, match="refused"):
            list(table_passages(db, "SELECT nothing FROM nowhere", key="sku"))
    db.close()


def test_that_past_dialogues_become_question_and_answer() -> None:
    turns = (Utterance(Role.USER, "Open today?"), Utterance(Role.SYSTEM, "Until six."))
    found = list(dialogue_passages([Dialogue("d7", turns)]))
    assert [(p.id, p.metadata["system"]) for p in found] == [("d7#1", "Until six.")]


def test_that_a_source_name_must_be_a_token() -> None:
    for name in ("NULL", "my docs", "docs"):
        with pytest.raises(UsageError, match="cannot be called"):
            IndexedSource(name, "", [])


def _docs(conditioning: Any) -> IndexedSource:
    passages = [Passage("1", "a red thing", parents=("p1",)), Passage("2", "a blue thing", parents=("p2",))]
    return IndexedSource("DOCS", "", passages, depends_on=["PERSONA"], conditioning=conditioning)


def _after(text: str, id_: str, words: str) -> Query:
    query = asking(text)
    return Query(query.context, "", (Evidence("PERSONA", Passage(id_, words), 1.0),))


def test_that_earlier_evidence_filters() -> None:
    found = _docs("filter").search(_after("which thing", "p2", ""), 5)
    assert [(e.id, e.depends_on) for e in found] == [("2", (("PERSONA", "p2"),))]


def test_that_earlier_evidence_expands_the_query() -> None:
    assert _docs("expand").search(_after("which", "p9", "blue"), 1)[0].id == "2"


def test_that_without_conditioning_everything_competes() -> None:
    assert {e.id for e in _docs("none").search(_after("thing", "p2", ""), 5)} == {"1", "2"}


def test_that_a_call_is_retried_checked_and_cached_for_each_user() -> None:
    asked: list[str] = []

    def call(query: Query, n: int) -> Any:
        asked.append(query.user)
        if len(asked) == 1:
            raise ConnectionError("gone")
        return [{"id": "o1", "text": f"order of {query.user}"}]

    source = CallSource("ORDERS", "", call)
    assert source.search(asking("my order", user="ann"), 3)[0].text == "order of ann"
    assert source.search(asking("my order", user="ann"), 3)[0].text == "order of ann"
    assert asked == ["ann", "ann"]
    assert source.search(asking("my order", user="bob"), 3)[0].text == "order of bob"


def test_that_a_result_off_its_schema_is_a_source_error() -> None:
    source = CallSource("ORDERS", "", lambda query, n: [{"text": "no id"}])
    with pytest.raises(SourceError, match=r"ORDERS.*\$\[0\]"):
        source.search(asking("x"), 1)


def test_that_a_result_of_another_shape_is_read_by_its_own_schema() -> None:
    schema = {"type": "object", "required": ["temperature"]}
    source = CallSource(
        "WEATHER",
        "",
        lambda query, n: {"temperature": 21},
        schema=schema,
        passages=lambda result: [{"id": "now", "text": f"{result['temperature']} degrees"}],
    )
    assert source.search(asking("warm?"), 1)[0].text == "21 degrees"


def test_that_an_error_of_the_call_is_a_source_error_and_not_retried() -> None:
    calls = []

    def call(query: Query, n: int) -> Any:
        calls.append(1)
        raise KeyError("oops")

    with pytest.raises(SourceError, match="KeyError"):
        CallSource("X", "", call).search(asking("x"), 1)
    assert len(calls) == 1


def test_that_an_async_function_is_a_tool_too() -> None:
    async def status(query: Query, n: int) -> list[dict[str, str]]:
        await asyncio.sleep(0)
        return [{"id": "o1", "text": f"{query.user} has {n} order"}]

    source = CallSource("ORDERS", "", status)
    knowledge = Knowledge([source], AlwaysPlanner(), LexicalRelevance(), GatherSettings(top=1, candidates=1))
    gathered = asyncio.run(knowledge.gather(asking("my order?", user="ann")))
    assert [found.text for found in gathered.evidence] == ["ann has 1 order"]


def test_that_a_broken_schema_is_found_at_once() -> None:
    with pytest.raises(UsageError, match="JSON Schema"):
        CallSource("X", "", lambda query, n: [], schema={"type": "nonsense"})


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = 404 if self.path.startswith("/missing") else 200
            body = (
                b"no json" if self.path.startswith("/text") else json.dumps([{"id": "1", "text": self.path}]).encode()
            )
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    http = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_that_an_endpoint_is_asked_with_percent_encoded_words(server: str) -> None:
    source = CallSource("WEB", "", HttpCall(server + "/find?q={query}&n={n}"))
    assert source.search(asking("a&b c"), 2)[0].text == "/find?q=a%26b%20c&n=2"


def test_that_what_is_not_json_and_what_is_not_there_are_source_errors(server: str) -> None:
    for path, message in (("/text", "JSON"), ("/missing", "404")):
        with pytest.raises(SourceError, match=message):
            CallSource("WEB", "", HttpCall(server + path)).search(asking("x"), 1)


def test_that_only_web_addresses_are_asked() -> None:
    with pytest.raises(UsageError, match="http"):
        HttpCall("file:///etc/passwd")
