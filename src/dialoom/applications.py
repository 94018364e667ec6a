"""A user's own Python file, run by its path."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from dialoom.errors import InvalidFile, UsageError


def run_file(path: Path | str, name: str) -> ModuleType:
    """Run a Python file as the module `name`; it may import what lies beside it.

    Raises `InvalidFile` when it is absent or fails; a `UsageError` of its own is left as it is.
    """
    source = Path(path)
    if source.suffix != ".py" or not source.is_file():
        raise InvalidFile(source, "there is no such Python file.", hint="Name the file of your own application.")
    module, old = ModuleType(name), sys.modules.get(name)
    module.__file__ = str(source)
    folder = str(source.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that the files there shadow no installed module
    sys.modules[name] = module
    try:  # from the text itself: byte code kept beside it would be stale after two edits within a second
        exec(compile(source.read_bytes(), str(source), "exec"), module.__dict__)  # noqa: S102
    except (Exception, SystemExit) as error:
        if old is None:
            del sys.modules[name]
        else:
            sys.modules[name] = old
        if isinstance(error, UsageError):
            raise
        raise InvalidFile(source, f"running it failed: {type(error).__name__}: {error}.") from error
    return module
