"""Functions on moments, times of day and lengths, by the names that SMCalFlow programs use."""

from __future__ import annotations

import datetime as dt

from dialoom.domains.calendar import dates
from dialoom.domains.calendar.library import function
from dialoom.domains.calendar.model import Constraint, Period, PeriodDuration, World
from dialoom.domains.calendar.times import DAY, named

NO_PERIOD = Period()
NO_TIME = dt.timedelta()

# Moments


@function("DateAtTimeWithDefaults")
def date_at_time(date: dt.date, time: dt.time) -> dt.datetime:
    """A time of a day."""
    return dt.datetime.combine(date, time)


@function("DateTime.date")
def date_of(obj: dt.datetime) -> dt.date:
    """The day of a moment."""
    return obj.date()


@function("DateTime.time")
def time_of(obj: dt.datetime) -> dt.time:
    """The time of a moment."""
    return obj.time()


@function("NextTime")
def next_time(time: dt.time, *, world: World) -> dt.datetime:
    """The first moment after now with this time."""
    moment = dt.datetime.combine(world.today, time)
    return moment if moment > world.now else moment + DAY


@function("TimeAfterDateTime")
def time_after(dateTime: dt.datetime, time: dt.time) -> dt.datetime:  # noqa: N803
    """The first moment after another with this time."""
    moment = dt.datetime.combine(dateTime.date(), time)
    return moment if moment > dateTime else moment + DAY


@function("adjustByPeriodDuration")
def adjust_by_duration(datetime: dt.datetime, periodDuration: PeriodDuration) -> dt.datetime:  # noqa: N803
    """A moment moved by a span."""
    day = dates.shifted(datetime.date(), periodDuration.period)
    return dt.datetime.combine(day, datetime.time()) + periodDuration.duration


@function("PeriodDuration.apply")
def period_duration(period: Period = NO_PERIOD, duration: dt.timedelta = NO_TIME) -> PeriodDuration:
    """A span of a period and a duration."""
    return PeriodDuration(duration, period)


@function("addDurations")
def add_durations(x: dt.timedelta, y: dt.timedelta) -> dt.timedelta:
    """Both, one after the other."""
    return x + y


def _moments(first: dt.datetime, last: dt.datetime) -> Constraint[dt.datetime]:
    return Constraint(lambda moment: first <= moment <= last, first, (first, last))


@function("DateTimeAndConstraint")
def date_time_and(dateTime1: dt.datetime, dateTime2: dt.datetime) -> Constraint[dt.datetime]:  # noqa: N803
    """From one moment to another."""
    return _moments(dateTime1, dateTime2)


@function("AroundDateTime")
def around(dateTime: dt.datetime) -> Constraint[dt.datetime]:  # noqa: N803
    """Within an hour of a moment."""
    hour = dt.timedelta(hours=1)
    return _moments(dateTime - hour, dateTime + hour)


@function("NextPeriodDuration")
def next_period_duration(periodDuration: PeriodDuration, *, world: World) -> Constraint[dt.datetime]:  # noqa: N803
    """From now for a span."""
    return _moments(world.now, adjust_by_duration(world.now, periodDuration))


@function("DateTime.date_?")
def date_constraint(obj: Constraint[dt.date]) -> Constraint[dt.datetime]:
    """Moments whose day meets the condition."""
    example = None if obj.example is None else dt.datetime.combine(obj.example, dt.time(9))
    return Constraint(lambda moment: obj.test(moment.date()), example)


@function("DateTime.time_?")
def time_constraint(obj: Constraint[dt.time]) -> Constraint[dt.datetime]:
    """Moments whose time meets the condition."""
    return Constraint(lambda moment: obj.test(moment.time()))


# Times of day


@function("NumberAM")
def number_am(number: int) -> dt.time:
    """An hour before noon; 12 is midnight."""
    return _clock(number % 12 if number <= 12 else number)


@function("NumberPM")
def number_pm(number: int) -> dt.time:
    """An hour after noon; 12 is noon."""
    return _clock(number % 12 + 12 if number <= 12 else number)


@function("HourMinuteAm")
def hour_minute_am(hours: int, minutes: int) -> dt.time:
    """A time before noon."""
    return dt.time(hours % 12, minutes)


@function("HourMinutePm")
def hour_minute_pm(hours: int, minutes: int) -> dt.time:
    """A time after noon."""
    return dt.time(hours % 12 + 12, minutes)


@function("HourMilitary")
def hour_military(hours: int) -> dt.time:
    """An hour of 24, or hours and minutes run together (1530)."""
    return _clock(hours)


@function("HourMinuteMilitary")
def hour_minute_military(hours: int, minutes: int) -> dt.time:
    """A time of 24 hours."""
    return dt.time(hours % 24, minutes)


def _clock(number: int) -> dt.time:
    return dt.time(number // 100 % 24, number % 100) if number > 24 else dt.time(number % 24)


def _fixed_time(name: str, hour: int, minute: int = 0) -> None:
    named(name, dt.time(hour, minute), dt.time)


for _name, _hour in (
    ("Noon", 12),
    ("Lunch", 12),
    ("Brunch", 10),
    ("Breakfast", 8),
    ("Dinner", 18),
    ("EndOfWorkDay", 17),
):
    _fixed_time(_name, _hour)
_fixed_time("Midnight", 0)


def _window(name: str, first: dt.time, last: dt.time) -> None:
    """A part of the day; the bounds are inclusive."""

    def part() -> Constraint[dt.time]:
        return Constraint(lambda time: first <= time <= last, first, (first, last))

    function(name)(part)


_window("Morning", dt.time(6), dt.time(11, 59, 59))
_window("Afternoon", dt.time(12), dt.time(16, 59, 59))
_window("Evening", dt.time(17), dt.time(20, 29, 59))
_window("Night", dt.time(17), dt.time(23, 59, 59))
_window("EarlyMorning", dt.time(5), dt.time(8, 59, 59))
_window("LateMorning", dt.time(9), dt.time(11, 59, 59))
_window("LateAfternoon", dt.time(15, 20), dt.time(16, 59, 59))
_window("LateNight", dt.time(21), dt.time(23, 59, 59))
_window("Early", dt.time(0), dt.time(9, 59, 59))
_window("Late", dt.time(15), dt.time(23, 59, 59))


@function("TimeToTime")
def time_to_time(time1: dt.time, time2: dt.time) -> Constraint[dt.time]:
    """From one time to another."""
    return Constraint(lambda time: time1 <= time <= time2, time1, (time1, time2))


# Lengths


@function("toDays")
def to_days(days: float) -> Period:
    """Days."""
    return Period(days=int(days))


@function("toWeeks")
def to_weeks(weeks: float) -> Period:
    """Weeks."""
    return Period(weeks=int(weeks))


@function("toMonths")
def to_months(months: float) -> Period:
    """Months."""
    return Period(months=int(months))


@function("toYears")
def to_years(years: float) -> Period:
    """Years."""
    return Period(years=int(years))


@function("toHours")
def to_hours(hours: float) -> dt.timedelta:
    """Hours."""
    return dt.timedelta(hours=hours)


@function("toMinutes")
def to_minutes(minutes: float) -> dt.timedelta:
    """Minutes."""
    return dt.timedelta(minutes=minutes)


@function("toSeconds")
def to_seconds(seconds: float) -> dt.timedelta:
    """Seconds."""
    return dt.timedelta(seconds=seconds)


@function("subtractDurations")
def subtract_durations(x: dt.timedelta, y: dt.timedelta) -> dt.timedelta:
    """The first without the second."""
    return x - y


@function("adjustByDuration")
def adjust_time(time: dt.time, duration: dt.timedelta) -> dt.time:
    """A time of day moved by a length."""
    return (dt.datetime.combine(dt.date(2000, 1, 2), time) + duration).time()


@function("ConvertTimeToAM")
def to_am(time: dt.time) -> dt.time:
    """The time before noon with the same digits."""
    return time.replace(hour=time.hour % 12)


@function("ConvertTimeToPM")
def to_pm(time: dt.time) -> dt.time:
    """The time after noon with the same digits."""
    return time.replace(hour=time.hour % 12 + 12)


@function("TimeAround")
def time_around(time: dt.time) -> Constraint[dt.time]:
    """Within an hour of a time, within its day."""
    first = time.replace(hour=max(0, time.hour - 1))
    last = time.replace(hour=time.hour + 1) if time.hour < 23 else dt.time(23, 59)
    return time_to_time(first, last)


def _part(window: Constraint[dt.time], share_from: float, share_to: float) -> Constraint[dt.time]:
    if window.bounds is None:
        return window
    day = dt.date(2000, 1, 1)
    first, last = (dt.datetime.combine(day, edge) for edge in window.bounds)
    return time_to_time((first + (last - first) * share_from).time(), (first + (last - first) * share_to).time())


@function("EarlyTimeRange")
def early_times(timeRange: Constraint[dt.time]) -> Constraint[dt.time]:  # noqa: N803
    """The first third of a part of the day."""
    return _part(timeRange, 0, 1 / 3)


@function("LateTimeRange")
def late_times(timeRange: Constraint[dt.time]) -> Constraint[dt.time]:  # noqa: N803
    """The last third of a part of the day."""
    return _part(timeRange, 2 / 3, 1)


@function("OnDateAfterTime")
def date_after_time(date: dt.date, time: dt.time) -> Constraint[dt.datetime]:
    """From a time of a day to its end."""
    return _moments(dt.datetime.combine(date, time), dt.datetime.combine(date, dt.time(23, 59)))


@function("OnDateBeforeTime")
def date_before_time(date: dt.date, time: dt.time) -> Constraint[dt.datetime]:
    """From the beginning of a day to a time of it."""
    return _moments(dt.datetime.combine(date, dt.time()), dt.datetime.combine(date, time))


@function("DateTimeConstraint")
def date_with_times(constraint: Constraint[dt.time], date: dt.date) -> Constraint[dt.datetime]:
    """A part of a day."""
    if constraint.bounds:
        first, last = constraint.bounds
        return _moments(dt.datetime.combine(date, first), dt.datetime.combine(date, last))
    return Constraint(lambda moment: moment.date() == date and constraint.test(moment.time()), None)


@function("PeriodDurationBeforeDateTime")
def duration_before(dateTime: dt.datetime, periodDuration: PeriodDuration) -> dt.datetime:  # noqa: N803
    """A moment moved back by a span."""
    day = dates.shifted(dateTime.date(), periodDuration.period, -1)
    return dt.datetime.combine(day, dateTime.time()) - periodDuration.duration


@function("TimeBeforeDateTime")
def time_before(dateTime: dt.datetime, time: dt.time) -> dt.datetime:  # noqa: N803
    """The last moment before another with this time."""
    moment = dt.datetime.combine(dateTime.date(), time)
    return moment if moment < dateTime else moment - DAY


@function("LastDuration")
def last_duration(duration: dt.timedelta, *, world: World) -> Constraint[dt.datetime]:
    """A length up to now."""
    return _moments(world.now - duration, world.now)
