"""A folder of conversation tests: which files, which flow, which application, which model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dialoom.errors import InvalidFile, UsageError
from dialoom.flows.application import Application, load_application
from dialoom.flows.load import load_flow
from dialoom.models.base import LanguageModel
from dialoom.models.cassette import Cassette
from dialoom.testing.conversations import TestFile, load_tests
from dialoom.testing.coverage import Coverage
from dialoom.testing.judging import Judge
from dialoom.testing.trials import Open, Outcome, run_repeatedly, run_test, scripted

APPLICATION = "app.py"
PATTERNS = ("test_*.yaml", "test_*.yml", "*_test.yaml")


@dataclass(frozen=True)
class Options:
    """How to run: a live model in place of the recorded one, recording, a judge, only some tests."""

    model: LanguageModel | None = None
    record: bool = False
    judge: Judge | None = None
    only: str = ""
    flow: str = ""
    application: Path | None = None


@dataclass
class Report:
    """What came of a folder."""

    outcomes: list[Outcome] = field(default_factory=list)
    coverage: dict[Path, Coverage] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return all(outcome.passed for outcome in self.outcomes)


def find_tests(folder: Path) -> list[Path]:
    """The test files of a folder (`test_*.yaml`), or the file itself. Raises `UsageError` where there is none."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise InvalidFile(folder, "there is no such file or folder.")
    found = sorted({path for pattern in PATTERNS for path in folder.rglob(pattern)})
    if not found:
        raise UsageError(f"{folder} has no conversation tests.", hint=f"Name them {' or '.join(PATTERNS[:2])}.")
    return found


async def run_folder(folder: Path, options: Options | None = None) -> Report:
    """Run every test. The application is `app.py` beside the flow, as pytest runs the conftest.py of a folder."""
    chosen, report = options or Options(), Report()
    files = {path: load_tests(path, chosen.flow) for path in find_tests(folder)}
    if chosen.record and not any(file.cassette for file in files.values()):
        raise UsageError("No test file names a cassette.", hint="Add to one: cassette: NAME.json")
    for path, file in files.items():
        where = (path.parent / file.flow).resolve()
        flow = load_flow(where).flow
        if file.understand is not None:
            flow = flow.model_copy(update={"understand": file.understand})
        app = _application(chosen.application or where.parent / APPLICATION, named=chosen.application is not None)
        coverage = report.coverage.setdefault(where, Coverage(flow))
        opened = _models(file, path, chosen)
        for test in file.tests:
            if chosen.only.casefold() not in test.name.casefold():
                continue
            live = chosen.model is not None and not chosen.record
            run = run_repeatedly if live else run_test
            outcome = await run(flow, app, file, path, test, opened, chosen.judge)
            coverage.see(outcome.events)
            report.outcomes.append(outcome)
    if not report.outcomes:
        raise UsageError(f"No test has '{chosen.only}' in its name.")
    return report


def _application(path: Path, *, named: bool) -> Application:
    return load_application(path) if named or path.is_file() else Application()


def _models(file: TestFile, path: Path, options: Options) -> Open:
    """Which model a test talks to: the live one, the file's cassette, else the test's script."""
    if file.cassette:
        place = path.parent / file.cassette
        if options.record:
            if options.model is None:
                raise UsageError("Recording needs a model.", hint="Add --model NAME.")
            tape: LanguageModel = Cassette(place, options.model, mode="record")
        else:
            tape = options.model or Cassette(place)
        return lambda test: scripted(test) or tape
    if options.model is not None and not options.record:
        live: LanguageModel = options.model
        return lambda test: scripted(test) or live
    return scripted
