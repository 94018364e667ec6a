from __future__ import annotations

import json
import re
from pathlib import Path

from dialoom.evaluation.experiments.definition import json_schema
from dialoom.evaluation.experiments.report import report_page
from dialoom.evaluation.experiments.summary import summarised

from .conftest import Make

SCHEMA = Path(__file__).parents[3] / "src/dialoom/evaluation/schemas/experiment-1.json"


def test_that_the_published_schema_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()


def test_that_the_page_loads_nothing_and_takes_text_as_text(make: Make) -> None:
    evil = "</script><script>alert(1)</script> %SCRIPT% <img src=x onerror=alert(2)>"
    results = make(writer=[evil]).run(name="A <b>name</b>")
    page = report_page(results, summarised(results))
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "A &lt;b&gt;name" in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "innerHTML" not in page
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert {row[6] for row in data["rows"] if data["systems"][row[0]] == "asked"} == {evil}


def test_that_a_quoted_password_is_taken_out_and_leaves_the_page_whole(make: Make) -> None:
    results = make(writer=['Ask for "password: hunter22" or "see http://me:hunter22@host/v1".']).run()
    page = report_page(results, summarised(results))
    assert "hunter22" not in page
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert 'Ask for "password: <key>" or "see http://<key>@host/v1".' in {
        row[6] for row in json.loads(found[1])["rows"]
    }


def test_that_every_number_of_the_page_is_in_the_summary(make: Make) -> None:
    results = make(writer=["fine"]).run()
    summary = summarised(results)
    found = re.search(r'id="data">(.*?)</script>', report_page(results, summary), re.DOTALL)
    assert found is not None
    assert json.loads(found[1])["lines"] == json.loads(json.dumps(summary.to_json()["lines"]))
