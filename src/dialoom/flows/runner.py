"""A conversation with a flow file: load, talk, reload when the file changes, migrate the session, record it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from dialoom.errors import InvalidFlow, UsageError
from dialoom.flows.checking import check
from dialoom.flows.flow import Flow
from dialoom.flows.load import LoadedFlow, load_flow
from dialoom.flows.migration import migrate
from dialoom.flows.recording import Header, append
from dialoom.flows.state import Event, State, Turn
from dialoom.flows.step import begin, step
from dialoom.flows.work import Ports


def fingerprint(loaded: LoadedFlow) -> str:
    """What tells one version of a flow file from another."""
    return hashlib.sha256(loaded.text.encode()).hexdigest()[:16]


def load_sound(path: Path, ports: Ports) -> LoadedFlow:
    """A flow that loads and in which the check finds no error. Raises `UsageError` that says what is wrong."""
    loaded = load_flow(path)
    errors = [finding for finding in check(loaded, ports.app) if finding.severity == "error"]
    if errors:
        more = f" ({len(errors) - 1} more: dialoom flow check {path})" if len(errors) > 1 else ""
        raise InvalidFlow(f"{errors[0]}{more}")
    return loaded


class Runner:
    """One session with a flow file.

    Before each turn the file is looked at: an edit takes effect at once, and the session is migrated to it; a broken
    edit keeps the old version running. `notice` says so, for whoever shows the conversation; it is empty otherwise.
    The application module is not reloaded.
    """

    def __init__(
        self,
        path: Path | str,
        ports: Ports | None = None,
        *,
        session: str = "session",
        state: State | None = None,
        record: Path | None = None,
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        self.path = Path(path)
        self.ports = ports or Ports()
        self.notice = ""
        self._clock = clock
        self._record = record
        self._loaded = load_sound(self.path, self.ports)
        self._seen = self._stamp()
        self.state = state or begin(self.flow, session)
        if state is None:
            self.state = self.state.model_copy(update={"fingerprint": fingerprint(self._loaded)})

    @property
    def flow(self) -> Flow:
        """The version that is running."""
        return self._loaded.flow

    async def open(self) -> Turn:
        """What the flow says before the user has said anything."""
        return await self._turn(None)

    async def say(self, text: str, **signals: object) -> Turn:
        """One turn; `signals` are facts from outside, such as the state of a learned automaton."""
        if signals:
            self.ports = replace(self.ports, signals={**self.ports.signals, **signals})
        return await self._turn(text)

    async def _turn(self, text: str | None) -> Turn:
        self._reload()
        mark = fingerprint(self._loaded)
        state, moved = migrate(self.flow, self.state, mark)
        turn = await step(self.flow, state, text, self.ports, self._clock())
        turn = turn.model_copy(update={"events": (*moved, *turn.events)})
        self.state = turn.state
        if moved:
            self.notice = " ".join(filter(None, [self.notice, *_notes(moved)]))
        if self._record is not None:
            header = Header(session=state.session, flow=state.flow, fingerprint=mark, signals=self.ports.signals)
            append(self._record, header, turn.events)
        return turn

    def _stamp(self) -> tuple[int, int]:
        try:
            stat = self.path.stat()
        except OSError:
            return (0, 0)
        return stat.st_mtime_ns, stat.st_size

    def _reload(self) -> None:
        self.notice = ""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            loaded = load_sound(self.path, self.ports)
        except UsageError as error:
            self.notice = f"The edit of {self.path.name} does not work, and the old version keeps running: {error}"
            return
        if loaded.text != self._loaded.text:
            self._loaded = loaded
            self.notice = f"{self.path.name} was reloaded."


def _notes(events: tuple[Event, ...]) -> list[str]:
    return [f"{note[:1].upper()}{note[1:]}." for event in events for note in event.data["notes"]]
