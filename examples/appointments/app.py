"""The practice's calendar behind an API that is slow and sometimes down. A stand-in: nothing talks to a network."""

from __future__ import annotations

import re

from dialoom.flows import Application, Proposal, Reading

app = Application()

HOURS = ("09:00", "10:30", "14:00")
FULL = {("Dr Bob Jones", "2026-11-24")}
BOOKINGS: dict[str, tuple[str, str, str]] = {"B-1001": ("Dr Anna Smith", "2026-11-25", "09:00")}
_made: dict[str, str | None] = {}
_attempts: dict[str, int] = {}


@app.recogniser
def full_name(text: str) -> Reading | None:
    """Two capitalised words: 'Ada Lovelace', 'I am Ada Lovelace'."""
    found = re.search(r"\b([A-Z][\w'-]+(?: (?:van|de|von|der))* [A-Z][\w'-]+)\b", text)
    return Reading(found.group(1), *found.span(1)) if found else None


@app.constraint
def not_past(_: Proposal, day: str | None, today: str) -> str | None:
    return "That day is in the past." if day and day < today else None


@app.constraint
def known_doctor(_: Proposal, doctor: str | None, doctors: list[str]) -> str | None:
    return None if doctor is None or doctor in doctors else f"Nobody is called {doctor} here."


@app.function
async def free_hours(doctor: str, day: str) -> list[str]:
    if day.endswith("-31"):
        raise ConnectionError("the calendar is down")
    return [] if (doctor, day) in FULL else list(HOURS)


@app.function
async def reserve(doctor: str, day: str, hour: str, patient: str, idempotency_key: str) -> str | None:
    """The calendar loses the first answer to patients called Twice, and books them once all the same."""
    _attempts[idempotency_key] = _attempts.get(idempotency_key, 0) + 1
    if idempotency_key not in _made:
        taken = hour == "14:00" and doctor == "Dr Clara Smith"
        _made[idempotency_key] = None if taken else f"B-{2000 + sum(map(ord, patient + day)) % 1000}"
    if "Twice" in patient and _attempts[idempotency_key] == 1:
        raise ConnectionError("the answer was lost")
    if "Never" in patient:
        raise ConnectionError("the calendar is down")
    return _made[idempotency_key]


@app.function
async def release(number: str) -> str | None:
    return number if number in BOOKINGS else None
