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
    ResponseStatusType,
    ShowAsStatus,
    World,
    Year,
)

DAY = dt.timedelta(days=1)
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


V = TypeVar("V")


def named(name: str, value: Any, kind: type) -> None:
    """Registers a function of no arguments that returns `value`."""

    def constant() -> Any:
        return value

    constant.__annotations__ = {"return": kind}
    function(name)(constant)


for _day in DayOfWeek:
    named(_day.value, _day, DayOfWeek)
for _number, _month in enumerate(MONTHS, 1):
    named(_month, Month(_number), Month)
for _status in ResponseStatusType:
    named(f"ResponseStatusType.{_status.value}", _status, ResponseStatusType)
for _shown in ShowAsStatus:
    named(f"ShowAsStatus.{_shown.value}", _shown, ShowAsStatus)
for _holiday in Holiday:
    named(f"Holiday.{_holiday.value}", _holiday, Holiday)

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
