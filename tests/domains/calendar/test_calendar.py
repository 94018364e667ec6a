"""The calendar: what its functions compute, what its rules say, and that they say nothing else."""

from __future__ import annotations

import datetime as dt

import pytest

from dialoom.dataflow import Graph, from_lispress
from dialoom.domains.calendar import Attendee, Event, EventId, Recipient, World, calendar_library, calendar_rules, dates
from dialoom.domains.calendar.model import DayOfWeek, Holiday, Period, ResponseStatusType
from dialoom.generation import Recogniser, check_rules, shortest, text_of, transduce

NOW = dt.datetime(2020, 3, 4, 10, 0)  # a Wednesday
ANY = "(^(Event) EmptyStructConstraint)"


def event(number: int, subject: str, start: dt.datetime, *people: str, place: str = "", minutes: int = 30) -> Event:
    attendees = tuple(Attendee(Recipient(name), ResponseStatusType.ACCEPTED) for name in people)
    return Event(EventId(number), subject, start, start + dt.timedelta(minutes=minutes), attendees, place)


@pytest.fixture
def world() -> World:
    return World(
        NOW,
        [
            event(1, "budget", dt.datetime(2020, 3, 5, 9), "Tara Smith", place="Room 4"),
            event(2, "Lunch with Bob", dt.datetime(2020, 3, 5, 12), "Bob Hale", "Ann Lee", minutes=60),
            event(3, "dentist", dt.datetime(2020, 3, 13, 15)),
            event(4, "old times", dt.datetime(2020, 2, 20, 18), "Ann Lee"),
        ],
        [Recipient("Tara Smith"), Recipient("Bob Hale"), Recipient("Ann Lee"), Recipient("Ann Moe")],
        managers={"you": "Tara Smith", "Bob Hale": "Tara Smith"},
    )


def says(program: str, world: World) -> Recogniser:
    graph = Graph(from_lispress(program, calendar_library), calendar_library, [world])
    grammar = transduce(graph, calendar_rules)
    recogniser = Recogniser(grammar)
    assert recogniser.accepts(text_of(grammar, shortest(grammar)))
    return recogniser


def find(constraint: str) -> str:
    return f"(FindEventWrapperWithDefaults {constraint})"


def exists(constraint: str) -> str:
    return f"(Yield (> (size (QueryEventResponse.results {find(constraint)})) 0L))"


def only(constraint: str) -> str:
    return f"(singleton (QueryEventResponse.results {find(constraint)}))"


SUBJECT = '(Event.subject_? (?~= "{}"))'
WITH = (
    "(Event.attendees_? (AttendeeListHasRecipientConstraint "
    '(RecipientWithNameLike (^(Recipient) EmptyStructConstraint) (PersonName.apply "{}"))))'
)
BOB = (
    "(AttendeeListHasRecipientConstraint "
    '(RecipientWithNameLike (^(Recipient) EmptyStructConstraint) (PersonName.apply "Bob")))'
)
ACCEPTED = "(ResponseStatusType.Accepted)"
ZED = (
    "(Execute (refer (extensionConstraint "
    '(RecipientWithNameLike (^(Recipient) EmptyStructConstraint) (PersonName.apply "Zed")))))'
)

TEAM = "(AttendeeListHasPeople (FindTeamOf (toRecipient (CurrentUser))))"
ANN_LEE = (
    "(Execute (refer (extensionConstraint "
    '(RecipientWithNameLike (^(Recipient) EmptyStructConstraint) (PersonName.apply "Ann Lee")))))'
)

CASES = [
    (
        f"(Yield {find(f'(EventOnDateBeforeTime (Tomorrow) {ANY} (NumberPM 12L))')})",
        ["I found one event tomorrow before 12:00 PM."],
        ["I found 2 events tomorrow before 12:00 PM."],
    ),
    (
        f"(Yield {find(SUBJECT.format('meeting'))})",
        ['I found 4 events matching "meeting".'],
        ['I didn\'t find any events matching "meeting".'],
    ),
    (
        f"(Yield {find(f'(Event.attendees_? (& {TEAM} (AttendeeListHasRecipient {ANN_LEE})))')})",
        ["I found one event with Bob Hale and Ann Lee."],
        ["I found one event with Bob Hale and Tara Smith."],
    ),
    (
        f"(Yield (Event.location {only(SUBJECT.format('budget'))}))",
        ['The event matching "budget" is a Room 4.'],
        ['The event matching "budget" is a Room 5.'],
    ),
    (
        f"(Yield (AttendeeResponseStatus (AttendeeFromEvent {only(SUBJECT.format('lunch'))} {ANN_LEE})))",
        [f'Ann Lee {have} accepted the "Lunch with Bob" invitation.' for have in ("has", "had")],
        ['Ann Lee had declined the "Lunch with Bob" invitation.'],
    ),
    (
        f"(Yield (== (Date.year (DateTime.date (Event.start {only(SUBJECT.format('dentist'))}))) (Year.apply 2020L)))",
        ["Yes, it's in 2020.", 'Yes. The event matching "dentist" starts in 2020.'],
        ["No, it's in 2020.", "Yes, it's in 2021."],
    ),
    (
        f"(Yield {find(f'(Event.attendees_? (& {BOB} (& {BOB} {BOB})))')})",
        ['I found one event with Bob. It\'s "Lunch with Bob" tomorrow from 12:00 to 1:00.'],
        ["I found 2 events with Bob."],
    ),
    (
        f"(Yield {find(f'(EventOnDate (Tomorrow) {ANY})')})",
        ["I found 2 events tomorrow.", 'I found 2 events on Thursday. The first is "budget" from 9:00 to 9:30 AM.'],
        [
            "I found 3 events tomorrow.",
            "I found 2 events on Friday.",
            "I found one event tomorrow.",
            "I didn't find any events.",
        ],
    ),
    (
        exists(f"(EventOnDate (NextDOW (Friday)) {ANY})"),
        ["No, I didn't find any events on Friday.", "No, I found no events on Friday the 6th."],
        [
            "Yes, I found 1 event on Friday.",
            "Yes, I didn't find any events on Friday.",
            "No, I didn't find any events on Monday.",
        ],
    ),
    (
        exists(f"(EventOnDate (MD 13L (March)) {ANY})"),
        ['Yes, I found one event on Friday the 13th. It\'s "dentist" from 3:00 to 3:30 PM.'],
        [
            "Yes, I found one event on Friday.",
            'Yes, I found one event on Friday the 13th. It\'s "dentist" from 3:00 to 3:45 PM.',
        ],
    ),
    (
        f"(Yield (Event.start {only(SUBJECT.format('lunch'))}))",
        ['The event matching "lunch" is tomorrow at 12:00 PM.', "It starts tomorrow at 12:00 PM."],
        [
            'The event matching "lunch" was tomorrow at 12:00 PM.',
            'The event matching "brunch" is tomorrow at 12:00 PM.',
        ],
    ),
    (
        f"(Yield (Event.start (FindNumNextEvent {WITH.format('Ann')} 1L)))",
        ["The next event with Ann is tomorrow at 12:00 PM."],
        ["The next event with Bob is tomorrow at 12:00 PM.", "The 2nd event with Ann is tomorrow at 12:00 PM."],
    ),
    (
        f"(Yield (Event.location {only(SUBJECT.format('budget'))}))",
        ['The event matching "budget" is located at Room 4.'],
        ['The event matching "budget" is located at Room 5.'],
    ),
    (
        f"(Yield (Event.location {only(SUBJECT.format('dentist'))}))",
        ['There is no location information for "dentist".'],
        ['The event matching "dentist" is located at Room 4.'],
    ),
    (
        f"(Yield (Event.duration {only(SUBJECT.format('lunch'))}))",
        ['The event matching "lunch" is for an hour.', "It's for 60 minutes."],
        ['The event matching "lunch" is for 2 hours.'],
    ),
    (
        f"(Yield (AttendeesWithResponse (Event.attendees {only(SUBJECT.format('lunch'))}) {ACCEPTED}))",
        ['Here is the list of attendees who have accepted "Lunch with Bob": Bob Hale and Ann Lee.'],
        ['Here is the list of attendees who have declined "Lunch with Bob": Bob Hale and Ann Lee.'],
    ),
    (
        f"(Yield (Event.start {only(SUBJECT.format('gym'))}))",
        ['I didn\'t find any events matching "gym".', "I didn't find any events."],
        ["It starts tomorrow at 12:00 PM.", 'I didn\'t find any events matching "lunch".'],
    ),
    (
        f"(Yield (Event.start {only(ANY)}))",
        ["I found more than one event. Which one do you mean?"],
        ["I didn't find any events."],
    ),
    (
        "(Yield (FindManager (toRecipient (CurrentUser))))",
        ["Tara Smith."],
        ["Bob Hale."],
    ),
    ("(Yield (Tomorrow))", ["It's tomorrow.", "on Thursday."], ["It's today.", "on Friday."]),
    ("(Yield (toHours 2))", ["2 hours."], ["an hour."]),
    ("(Yield (+ 2 3))", ["5."], ["6."]),
    ("(Yield (ThisWeek))", ["this week."], ["next week."]),
    ("(Yield (FindTeamOf (toRecipient (CurrentUser))))", ["Bob Hale."], ["Ann Lee."]),
    (
        f"(Yield {find(f'(Event.attendees_? (AttendeeListHasRecipient {ZED}))')})",
        ["I didn't find anyone named Zed in your address book."],
        ["I didn't find any events with Zed."],
    ),
    (
        f"(Yield (FindLastEvent {WITH.format('Ann Lee')}))",
        ['The last event with Ann Lee was "old times" on February 20th from 6:00 to 6:30 PM.'],
        ['The last event with Ann Lee is "old times" on February 20th from 6:00 to 6:30 PM.'],
    ),
]


@pytest.mark.parametrize(("program", "true", "false"), CASES)
def test_that_only_what_is_true_can_be_said(program: str, true: list[str], false: list[str], world: World) -> None:
    recogniser = says(program, world)
    assert [text for text in true if not recogniser.accepts(text)] == []
    assert [text for text in false if recogniser.accepts(text)] == []


def test_that_the_rules_have_no_loose_ends() -> None:
    assert len(calendar_rules) >= 120
    assert check_rules(calendar_rules, library=calendar_library) == []


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("(NextDOW (Wednesday))", dt.date(2020, 3, 11)),
        ("(MD 29L (February))", dt.date(2024, 2, 29)),
        ("(nextDayOfMonth (Today) 31L)", dt.date(2020, 3, 31)),
        ("(nextDayOfMonth (Today) 4L)", dt.date(2020, 4, 4)),
        ("(previousDayOfWeek (Today) (Wednesday))", dt.date(2020, 2, 26)),
        ("(DowOfWeekNew (Sunday) (ThisWeek))", dt.date(2020, 3, 1)),
        ("(NextHolidayFromToday (Holiday.Thanksgiving))", dt.date(2020, 11, 26)),
        ("(adjustByPeriod (Today) (toMonths 12))", dt.date(2021, 3, 4)),
        ("(DateAtTimeWithDefaults (Tomorrow) (NumberAM 12L))", dt.datetime(2020, 3, 5, 0, 0)),
        ("(ClosestDayOfWeek (Today) (Monday))", dt.date(2020, 3, 2)),
        ("(ClosestDay (Today) (Day.apply 31L))", dt.date(2020, 3, 31)),
        ("(previousMonthDay (Today) (March) 4L)", dt.date(2019, 3, 4)),
        ("(LastDayOfMonth (February))", dt.date(2021, 2, 28)),
        ("(adjustByDuration (NumberPM 11L) (toHours 2))", dt.time(1)),
        ("(TimeBeforeDateTime (Now) (Noon))", dt.datetime(2020, 3, 3, 12)),
        ("(allows (Date.dayOfWeek_? (Weekend)) (Tomorrow))", False),
        ("(NextTime (NumberAM 9L))", dt.datetime(2020, 3, 5, 9)),
        ("(HourMinutePm 12L 30L)", dt.time(12, 30)),
        ("(HourMilitary 1530L)", dt.time(15, 30)),
        ("(size (FindTeamOf (toRecipient (CurrentUser))))", 1),
    ],
)
def test_that_dates_and_times_are_computed(program: str, value: object, world: World) -> None:
    root = from_lispress(program, calendar_library)
    assert Graph(root, calendar_library, [world]).value(root) == value


def test_that_weeks_run_from_sunday_to_saturday() -> None:
    assert dates.week_of(dt.date(2020, 3, 1)) == (dt.date(2020, 3, 1), dt.date(2020, 3, 7))
    assert dates.week_of(dt.date(2020, 3, 7)) == (dt.date(2020, 3, 1), dt.date(2020, 3, 7))
    assert dates.weekend_of(dt.date(2020, 3, 8)) == (dt.date(2020, 3, 7), dt.date(2020, 3, 8))
    assert dates.shifted(dt.date(2020, 1, 31), Period(months=1)) == dt.date(2020, 2, 29)
    assert dates.next_weekday(dt.date(2020, 3, 4), DayOfWeek.WEDNESDAY) == dt.date(2020, 3, 11)


@pytest.mark.parametrize(
    ("holiday", "date"),
    [
        (Holiday.EASTER, (2019, 4, 21)),
        (Holiday.GOOD_FRIDAY, (2019, 4, 19)),
        (Holiday.MEMORIAL, (2019, 5, 27)),
        (Holiday.LABOR, (2019, 9, 2)),
        (Holiday.THANKSGIVING, (2019, 11, 28)),
        (Holiday.ELECTION, (2019, 11, 5)),
        (Holiday.MOTHERS, (2019, 5, 12)),
        (Holiday.HALLOWEEN, (2019, 10, 31)),
    ],
)
def test_that_holidays_fall_where_they_did(holiday: Holiday, date: tuple[int, int, int]) -> None:
    assert dates.holiday_in(date[0], holiday) == dt.date(*date)


def test_that_every_holiday_has_a_date() -> None:
    assert all(dates.holiday_in(2021, holiday).year == 2021 for holiday in Holiday)
