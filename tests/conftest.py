"""Tests run offline: real data only where DIALOOM_DATA points, no model server, no key."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded: its threads spin, and slow shared cores down

from pathlib import Path

import pytest

for _name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets; skips where it is absent."""
    folder = os.environ.get("DIALOOM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DIALOOM_DATA does not point to the real data sets")
    return Path(folder)
