"""Test results as JUnit XML, for continuous integration."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from dialoom.testing.trials import Outcome


def junit(outcomes: Sequence[Outcome]) -> str:
    """One test suite a file, one test case a conversation."""
    suites = ElementTree.Element("testsuites", _totals(outcomes))
    for path in dict.fromkeys(outcome.file for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.file == path]
        suite = ElementTree.SubElement(suites, "testsuite", {"name": path.name, **_totals(own)})
        for outcome in own:
            facts = {"name": _printable(outcome.test.name), "classname": path.stem, "time": f"{outcome.seconds:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", facts)
            for kind, problems in (("expectation", outcome.failures), ("judged", outcome.judged)):
                if problems:
                    facts = {"type": kind, "message": _printable(problems[0].split("\n")[0])}
                    ElementTree.SubElement(case, "failure", facts).text = _printable("\n".join(problems))
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _totals(outcomes: Sequence[Outcome]) -> dict[str, str]:
    failed = sum(not outcome.passed for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return {"tests": str(len(outcomes)), "failures": str(failed), "time": f"{seconds:.3f}"}


def _printable(text: str) -> str:
    """XML admits no control characters."""
    return "".join(mark if mark.isprintable() or mark in "\n\t" else "?" for mark in text)
