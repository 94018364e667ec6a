import subprocess
import sys

import pytest

import dialoom


def test_that_public_names_exist() -> None:
    assert all(hasattr(dialoom, name) for name in dialoom.__all__)


def test_that_public_names_are_pinned() -> None:
    assert dialoom.__all__ == [
        "Agent",
        "Chat",
        "Dialogue",
        "DialoomError",
        "LearnSettings",
        "Model",
        "ReadOptions",
        "Role",
        "Turn",
        "Utterance",
        "__version__",
        "learn",
        "open_corpus",
        "update",
    ]


def test_that_importing_one_lane_loads_no_other() -> None:
    program = (
        "import sys, dialoom, dialoom.automata; print(*sorted(m for m in sys.modules if m.startswith('dialoom.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert loaded <= {"automata", "errors", "files"}


def test_that_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = dialoom.nothing
