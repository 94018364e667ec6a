"""Functions on people: names, attendees, answers, managers and teams."""

from __future__ import annotations

from typing import Any

from dialoom.domains.calendar.library import function
from dialoom.domains.calendar.model import (
    Attendee,
    Constraint,
    Event,
    NotInvited,
    Person,
    PersonName,
    Recipient,
    ResponseStatus,
    ResponseStatusType,
    World,
)

Attendees = list[Attendee]


@function("PersonName.apply")
def person_name(name: str) -> PersonName:
    """A name as someone says it."""
    return PersonName(name)


@function("RecipientWithNameLike")
def with_name_like(constraint: Constraint[Recipient], name: PersonName) -> Constraint[Recipient]:
    """People whose name holds every word of a name."""
    words = name.name.casefold().split()

    def test(person: Recipient) -> bool:
        own = person.name.casefold().split()
        return constraint.test(person) and all(word in own for word in words)

    return Constraint(test, Recipient(name.name))


@function("CurrentUser")
def current_user(*, world: World) -> Person:
    """Who speaks."""
    return Person(world.user.name)


@function("toRecipient")
def to_recipient(person: Person) -> Recipient:
    """A person who can be invited."""
    return Recipient(person.name)


@function("PersonFromRecipient")
def person_from_recipient(recipient: Recipient) -> Person:
    """The person behind an address."""
    return Person(recipient.name)


@function("FindManager")
def find_manager(recipient: Recipient, *, world: World) -> Recipient:
    """Who leads them. Raises `NoManager`."""
    return world.manager(recipient)


@function("FindTeamOf")
def find_team(recipient: Recipient, *, world: World) -> list[Person]:
    """Those with the same manager."""
    return [Person(person.name) for person in world.team(recipient)]


@function("FindReports")
def find_reports(recipient: Recipient, *, world: World) -> list[Person]:
    """Those they lead."""
    return [Person(name) for name, manager in world.managers.items() if manager == recipient.name]


def _has(people: Attendees, name: str) -> bool:
    return any(attendee.recipient.name == name for attendee in people)


@function("AttendeeListHasRecipientConstraint")
def has_like(recipientConstraint: Constraint[Recipient]) -> Constraint[Attendees]:  # noqa: N803
    """Some attendee meets the condition."""
    example = [] if recipientConstraint.example is None else [recipientConstraint.example]
    return Constraint(lambda people: any(recipientConstraint.test(item.recipient) for item in people), example)


@function("AttendeeListHasRecipient")
def has_recipient(recipient: Recipient) -> Constraint[Attendees]:
    """This person is invited."""
    return Constraint(lambda people: _has(people, recipient.name), [recipient])


@function("AttendeeListExcludesRecipient")
def excludes(recipient: Constraint[Recipient]) -> Constraint[Attendees]:
    """No attendee meets the condition."""
    return Constraint(lambda people: not any(recipient.test(item.recipient) for item in people), [])


@function("AttendeeListHasPeople")
def has_people(people: list[Person]) -> Constraint[Attendees]:
    """All of these are invited."""
    wanted = [person.name for person in people]
    return Constraint(lambda invited: all(_has(invited, name) for name in wanted), [Recipient(name) for name in wanted])


@function("AttendeeListHasPeopleAnyOf")
def has_any_of(people: list[Person]) -> Constraint[Attendees]:
    """At least one of these is invited."""
    wanted = [person.name for person in people]
    return Constraint(
        lambda invited: any(_has(invited, name) for name in wanted), [Recipient(name) for name in wanted[:1]]
    )


@function("listSize")
def list_size(constraint: Constraint[float], typeConstraint: Constraint[Attendees]) -> Constraint[Attendees]:  # noqa: N803
    """Lists whose length meets the condition."""
    count: Any = constraint.example
    example = [Recipient(name) for name in ("Ann Lee", "Bo Yi", "Cy Orr", "Di Ek")[: int(count or 0)]]
    return Constraint(lambda people: typeConstraint.test(people) and constraint.test(len(people)), example)


@function("AttendeesWithResponse")
def with_response(attendees: Attendees, response: ResponseStatusType) -> Attendees:
    """Those who answered so."""
    return [item for item in attendees if item.response is response]


@function("AttendeesWithNotResponse")
def with_other_response(attendees: Attendees, response: ResponseStatusType) -> Attendees:
    """Those who did not answer so."""
    return [item for item in attendees if item.response is not response]


@function("AttendeeFromEvent")
def attendee_from_event(event: Event, recipient: Recipient, *, world: World) -> Attendee:
    """This person's place at an event. Raises `NotInvited`."""
    for attendee in event.attendees:
        if attendee.recipient.name == recipient.name:
            return attendee
    if recipient == world.user:
        return Attendee(recipient, event.response)
    raise NotInvited(f"{recipient.name} is not invited to {event.subject}.")


@function("AttendeeResponseStatus")
def attendee_response(attendee: Attendee) -> ResponseStatus:
    """What an attendee answered."""
    return ResponseStatus(attendee.response)


@function("ResponseStatus.response")
def response(obj: ResponseStatus) -> ResponseStatusType:
    """The kind of answer."""
    return obj.response
