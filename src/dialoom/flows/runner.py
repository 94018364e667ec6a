"""A conversation with a flow file: load, talk, reload when the file changes, migrate the session, record it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from dialoom.errors import InvalidFlow, UsageError
from dialoom.flows.application import load_application
from dialoom.flows.checking import check
from dialoom.flows.flow import Flow
from dialoom.flows.intents import likeness_of
from dialoom.flows.load import LoadedFlow, load_flow
from dialoom.flows.migration import migrate
from dialoom.flows.outside import Outside, not_understood
from dialoom.flows.recording import Header, append
from dialoom.flows.state import Event, State, Turn
from dialoom.flows.step import begin, step
from dialoom.flows.work import Ports

Stamp = tuple[int, int]
"""Time of the last change (ns) and size of a file; zeros where there is none."""


def fingerprint(text: str) -> str:
    """What tells one version of a flow file from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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

    Before each turn the files are looked at, that of the flow and that of the application (`app`): an edit takes
    effect at once, and the session is migrated to it; a broken edit keeps the old version of both running. `notice`
    says so, for whoever shows the conversation; it is empty otherwise. What the application imports is not reloaded.
    Given a `Flow` in place of a path, there is no file to look at. Without `ports.likeness`, intents are compared with
    their examples by an encoder fitted on these. `outside` may answer what the flow did not understand.
    """

    def __init__(
        self,
        path: Path | str | Flow,
        ports: Ports | None = None,
        *,
        app: Path | None = None,
        session: str = "session",
        state: State | None = None,
        record: Path | None = None,
        clock: Callable[[], datetime] = datetime.now,
        outside: Outside | None = None,
    ) -> None:
        self.path = None if isinstance(path, Flow) else Path(path)
        self.ports = ports or Ports()
        self.notice = ""
        self._app, self._clock, self._record, self._outside = app, clock, record, outside
        self._own_likeness = self.ports.likeness is None
        self._taken = self._tried = self._stamps()
        if app is not None:
            self.ports = replace(self.ports, app=load_application(app))
        if isinstance(path, Flow):
            self._take(path, path.model_dump_json())
        else:
            loaded = load_sound(Path(path), self.ports)
            self._take(loaded.flow, loaded.text)
        self.state = state or begin(self.flow, session).model_copy(update={"fingerprint": self._mark})

    @property
    def flow(self) -> Flow:
        """The version that is running."""
        return self._flow

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
        state, moved = migrate(self.flow, self.state, self._mark)
        turn = await step(self.flow, state, text, self.ports, self._clock())
        if self._outside is not None and text and not_understood(turn):
            turn = await self._outside(state, turn)
        turn = turn.model_copy(update={"events": (*moved, *turn.events)})
        self.state = turn.state
        if moved:
            self.notice = " ".join(filter(None, [self.notice, *_notes(moved)]))
        if self._record is not None:
            header = Header(session=state.session, flow=state.flow, fingerprint=self._mark, signals=self.ports.signals)
            append(self._record, header, turn.events)
        return turn

    def _take(self, flow: Flow, text: str) -> None:
        self._flow, self._mark = flow, fingerprint(text)
        if self._own_likeness:
            self.ports = replace(self.ports, likeness=likeness_of(flow.all_intents()))

    def _stamps(self) -> tuple[Stamp, Stamp]:
        return _stamp(self.path), _stamp(self._app)

    def _reload(self) -> None:
        self.notice = ""
        stamps = self._stamps()
        if self.path is None or stamps in (self._taken, self._tried):
            return
        self._tried = stamps
        files = [
            (path, now != then)
            for path, now, then in zip((self.path, self._app), stamps, self._taken, strict=True)
            if path is not None
        ]
        names = " and ".join(path.name for path, changed in files if changed)
        try:
            ports = self.ports
            if self._app is not None and stamps[1] != self._taken[1]:
                ports = replace(ports, app=load_application(self._app))
            loaded = load_sound(self.path, ports)
        except UsageError as error:
            self.notice = f"The edit of {names} does not work, and the old version keeps running: {error}"
            return
        self._taken, self.ports = stamps, ports
        self._take(loaded.flow, loaded.text)
        self.notice = f"{names} {'were' if ' and ' in names else 'was'} reloaded."


def _stamp(path: Path | None) -> Stamp:
    try:
        stat = path.stat() if path else None
    except OSError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_size) if stat else (0, 0)


def _notes(events: tuple[Event, ...]) -> list[str]:
    return [f"{note[:1].upper()}{note[1:]}." for event in events for note in event.data["notes"]]
