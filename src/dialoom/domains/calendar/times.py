"""Functions on dates, ranges and times, by the names that SMCalFlow programs use."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, TypeVar

from dialoom.domains.calendar import dates
from dialoom.domains.calendar.library import function
from dialoom.domains.calendar.model import (
    Constraint,
    DayOfWeek,
    Holiday,
    Month,
    Period,
    PeriodDuration,
    ResponseStatusType,
    ShowAsStatus,
    World,
    Year,
)

DAY = dt.timedelta(days=1)
NO_PERIOD = Period()
NO_TIME = dt.timedelta()
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


V = TypeVar("V")


def _named(name: str, value: Any, kind: type) -> None:
    """Registers a function of no arguments that returns `value`."""

    def constant() -> Any:
        return value

    constant.__annotations__ = {"return": kind}
    function(name)(constant)


for _day in DayOfWeek:
    _named(_day.value, _day, DayOfWeek)
for _number, _month in enumerate(MONTHS, 1):
    _named(_month, Month(_number), Month)
for _status in ResponseStatusType:
    _named(f"ResponseStatusType.{_status.value}", _status, ResponseStatusType)
for _shown in ShowAsStatus:
    _named(f"ShowAsStatus.{_shown.value}", _shown, ShowAsStatus)
for _holiday in Holiday:
    _named(f"Holiday.{_holiday.value}", _holiday, Holiday)

# Days


def _day_function(name: str, get: Callable[[World], dt.date]) -> None:
    def day(*, world: World) -> dt.date:
        return get(world)

    function(name)(day)


_day_function("Today", lambda world: world.today)
_day_function("Tomorrow", lambda world: world.today + DAY)
_day_function("Yesterday", lambda world: world.today - DAY)


@function("Now")
def now(*, world: World) -> dt.datetime:
    """This moment."""
    return world.now


@function("NextDOW")
def next_dow(dow: DayOfWeek, *, world: World) -> dt.date:
    """The first such day after today."""
    return dates.next_weekday(world.today, dow)


@function("LastDOW")
def last_dow(dow: DayOfWeek, *, world: World) -> dt.date:
    """The last such day before today."""
    return dates.previous_weekday(world.today, dow)


@function("ThisDOW")
def this_dow(dow: DayOfWeek, *, world: World) -> dt.date:
    """Such a day, today or after."""
    return dates.next_weekday(world.today - DAY, dow)


@function("MD")
def month_day(day: int, month: Month, *, world: World) -> dt.date:
    """The next such date, today included."""
    if month.year is not None:
        return dt.date(month.year, month.number, day)
    return dates.next_month_day(world.today, month.number, day)


@function("MDY")
def month_day_year(day: int, month: Month, year: Year) -> dt.date:
    """One date."""
    return dt.date(year.number, month.number, day)


@function("nextDayOfMonth")
def next_day_of_month(date: dt.date, day: int) -> dt.date:
    """The next such day of a month, strictly after a date."""
    return dates.next_day_of_month(date, day)


@function("nextMonthDay")
def next_month_day(date: dt.date, month: Month, day: int) -> dt.date:
    """The next such date, on or after a date."""
    return dates.next_month_day(date, month.number, day)


@function("nextDayOfWeek")
def next_day_of_week(date: dt.date, day: DayOfWeek) -> dt.date:
    """The next such weekday, strictly after a date."""
    return dates.next_weekday(date, day)


@function("previousDayOfWeek")
def previous_day_of_week(date: dt.date, day: DayOfWeek) -> dt.date:
    """The last such weekday, strictly before a date."""
    return dates.previous_weekday(date, day)


@function("DowOfWeekNew")
def dow_of_week(dow: DayOfWeek, week: Constraint[dt.date]) -> dt.date:
    """Such a weekday within a week."""
    first: dt.date = week.bounds[0] if week.bounds else week.example
    return dates.next_weekday(first - DAY, dow)


@function("DowToDowOfWeek")
def dow_to_dow(day1: DayOfWeek, day2: DayOfWeek, week: Constraint[dt.date]) -> Constraint[dt.date]:
    """From one weekday to another within a week."""
    first: dt.date = week.bounds[0] if week.bounds else week.example
    begin = dates.next_weekday(first - DAY, day1)
    return _range((begin, dates.next_weekday(begin, day2)))


@function("NextHolidayFromToday")
def next_holiday(holiday: Holiday, *, world: World) -> dt.date:
    """The holiday's next date, today included."""
    this_year = dates.holiday_in(world.today.year, holiday)
    return this_year if this_year >= world.today else dates.holiday_in(world.today.year + 1, holiday)


@function("HolidayYear")
def holiday_year(holiday: Holiday, year: Year) -> dt.date:
    """The holiday's date in a year."""
    return dates.holiday_in(year.number, holiday)


@function("adjustByPeriod")
def adjust_by_period(date: dt.date, period: Period) -> dt.date:
    """A date moved by a period."""
    return dates.shifted(date, period)


@function("PeriodBeforeDate")
def period_before(date: dt.date, period: Period) -> dt.date:
    """A date moved back by a period."""
    return dates.shifted(date, period, -1)


@function("Date.year")
def year_of(obj: dt.date) -> Year:
    """The year of a date."""
    return Year(obj.year)


@function("Date.month")
def month_of(obj: dt.date) -> Month:
    """The month of a date."""
    return Month(obj.month, obj.year)


@function("Date.day")
def day_of(obj: dt.date) -> int:
    """The day of the month."""
    return obj.day


@function("Date.dayOfWeek")
def weekday_of(obj: dt.date) -> DayOfWeek:
    """The weekday of a date."""
    return list(DayOfWeek)[obj.weekday()]


@function("Year.apply")
def year_apply(value: int) -> Year:
    """A year by its number."""
    return Year(value)


@function("LastYear")
def last_year(*, world: World) -> Year:
    """The year before this one."""
    return Year(world.today.year - 1)


@function("NextYear")
def next_year(*, world: World) -> Year:
    """The year after this one."""
    return Year(world.today.year + 1)


@function("NextMonth")
def next_month(*, world: World) -> Month:
    """The month after this one."""
    return Month(world.today.month % 12 + 1, world.today.year + world.today.month // 12)


# Ranges of days


def _range(bounds: dates.Range) -> Constraint[dt.date]:
    first, last = bounds
    return Constraint(lambda day: first <= day <= last, first, bounds)


def _range_function(name: str, get: Callable[[dt.date], dates.Range]) -> None:
    def days(*, world: World) -> Constraint[dt.date]:
        return _range(get(world.today))

    function(name)(days)


_range_function("ThisWeek", dates.week_of)
_range_function("NextWeekList", lambda today: dates.week_of(today + 7 * DAY))
_range_function("LastWeekNew", lambda today: dates.week_of(today - 7 * DAY))
_range_function("ThisWeekend", dates.weekend_of)
_range_function("NextWeekend", lambda today: dates.weekend_of(dates.weekend_of(today)[1] + DAY))
_range_function("LastWeekend", lambda today: dates.weekend_of(dates.weekend_of(today)[0] - 2 * DAY))
_range_function("SeasonSpring", lambda today: dates.season(today, 3))
_range_function("SeasonSummer", lambda today: dates.season(today, 6))
_range_function("SeasonFall", lambda today: dates.season(today, 9))
_range_function("SeasonWinter", lambda today: dates.season(today, 12))
_range_function(
    "FullMonthofLastMonth",
    lambda today: dates.month_range(*divmod(today.year * 12 + today.month - 2, 12)[:1], (today.month - 2) % 12 + 1),
)


@function("FullMonthofMonth")
def full_month(month: Month, year: Year | None = None, *, world: World) -> Constraint[dt.date]:
    """A month: of the year named, else the present or next one of that name."""
    today = world.today
    in_year = year.number if year else month.year
    if in_year is None:
        in_year = today.year if month.number >= today.month else today.year + 1
    return _range(dates.month_range(in_year, month.number))


@function("FullMonthofPreviousMonth")
def full_previous_month(month: Month, *, world: World) -> Constraint[dt.date]:
    """The last month of that name before this one."""
    today = world.today
    return _range(dates.month_range(today.year if month.number < today.month else today.year - 1, month.number))


@function("FullYearofYear")
def full_year(year: Year) -> Constraint[dt.date]:
    """A whole year."""
    return _range((dt.date(year.number, 1, 1), dt.date(year.number, 12, 31)))


@function("WeekOfDateNew")
def week_of_date(date: dt.date) -> Constraint[dt.date]:
    """The week around a date."""
    return _range(dates.week_of(date))


@function("WeekendOfDate")
def weekend_of_date(date: dt.date) -> Constraint[dt.date]:
    """The weekend at the end of a date's week."""
    return _range(dates.weekend_of(date))


@function("WeekendOfMonth")
def weekend_of_month(num: int, month: Month, *, world: World) -> Constraint[dt.date]:
    """The n-th weekend of a month."""
    first = full_month(month, world=world).example
    return _range(dates.weekend_of(first + (num - 1) * 7 * DAY))


@function("NumberWeekOfMonth")
def week_of_month(number: int, month: Month, *, world: World) -> Constraint[dt.date]:
    """The n-th week of a month."""
    first = full_month(month, world=world).example
    return _range(dates.week_of(first + (number - 1) * 7 * DAY))


@function("NumberWeekFromEndOfMonth")
def week_from_end_of_month(number: int, month: Month, *, world: World) -> Constraint[dt.date]:
    """The n-th last week of a month."""
    bounds = full_month(month, world=world).bounds
    return _range(dates.week_of((bounds[1] if bounds else world.today) - (number - 1) * 7 * DAY))


@function("NextPeriod")
def next_period(period: Period, *, world: World) -> Constraint[dt.date]:
    """From today for a period."""
    return _range((world.today, dates.shifted(world.today, period)))


@function("DateAndConstraint")
def date_and(date1: dt.date, date2: dt.date) -> Constraint[dt.date]:
    """From one date to another."""
    return _range((date1, date2))


def _part(share_from: float, share_to: float, range_: Constraint[dt.date]) -> Constraint[dt.date]:
    if range_.bounds is None:
        return range_
    first, last = range_.bounds
    days = (last - first).days + 1
    begin = first + dt.timedelta(days=int(days * share_from))
    return _range((begin, first + dt.timedelta(days=max(int(days * share_to) - 1, (begin - first).days))))


@function("EarlyDateRange")
def early_range(dateRange: Constraint[dt.date]) -> Constraint[dt.date]:  # noqa: N803
    """The first third of a range."""
    return _part(0, 1 / 3, dateRange)


@function("LateDateRange")
def late_range(dateRange: Constraint[dt.date]) -> Constraint[dt.date]:  # noqa: N803
    """The last third of a range."""
    return _part(2 / 3, 1, dateRange)


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
    _named(name, dt.time(hour, minute), dt.time)


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
