"""More functions on days: nearest ones, days of weeks and months, holidays, and spans that lead up to today."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from dialoom.domains.calendar import dates
from dialoom.domains.calendar.library import calendar_library, function
from dialoom.domains.calendar.model import Constraint, DayOfWeek, Holiday, Month, Period, World
from dialoom.domains.calendar.times import DAY, full_month, named


@calendar_library.type()
class Day(int):
    """A day of the month."""


named("Afew", 3, int)
named("Acouple", 2, int)
named("Earliest", 1, int)
named("Latest", -1, int)


@function("Day.apply")
def day_apply(value: int) -> Day:
    """A day of the month by its number."""
    return Day(value)


@function("toMonth")
def to_month(month: int) -> Month:
    """A month by its number."""
    return Month((month - 1) % 12 + 1)


@function("longToNum")
def long_to_number(long: int) -> float:
    """A whole number as a number."""
    return float(long)


@function("toFourDigitYear")
def four_digit_year(year: int) -> int:
    """19 as 2019."""
    return year if year > 99 else 2000 + year


def _nearest(date: dt.date, candidates: list[dt.date]) -> dt.date:
    return min(candidates, key=lambda day: (abs((day - date).days), day < date))


@function("ClosestDayOfWeek")
def closest_weekday(date: dt.date, dow: DayOfWeek) -> dt.date:
    """Such a weekday nearest to a date, the date itself included."""
    return _nearest(date, [dates.next_weekday(date - DAY, dow), dates.previous_weekday(date + DAY, dow)])


@function("ClosestDay")
def closest_day(date: dt.date, day: Day) -> dt.date:
    """Such a day of a month nearest to a date, the date itself included."""
    return _nearest(date, [dates.next_day_of_month(date - DAY, day), _previous_day(date + DAY, day)])


@function("ClosestMonthDayToDate")
def closest_month_day(day: Day, month: Month, date: dt.date) -> dt.date:
    """Such a date of any year nearest to another."""
    following = dates.next_month_day(date, month.number, day)
    return _nearest(date, [following, dates.next_month_day(following - 366 * DAY, month.number, day)])


@function("previousMonthDay")
def previous_month_day(date: dt.date, month: Month, day: int) -> dt.date:
    """The last such date, strictly before another."""
    for year in range(date.year, date.year - 9, -1):
        last = dates.month_range(year, month.number)[1]
        if day <= last.day and last.replace(day=day) < date:
            return last.replace(day=day)
    raise ValueError(f"month {month.number} has no day {day}")


@function("previousDayOfMonth")
def previous_day_of_month(date: dt.date, day: int) -> dt.date:
    """The last such day of a month, strictly before a date."""
    return _previous_day(date, day)


def _previous_day(date: dt.date, number: int) -> dt.date:
    moved = date - DAY
    for _ in range(62):
        if moved.day == number:
            return moved
        moved -= DAY
    raise ValueError(f"no month has {number} days")


@function("LastDayOfMonth")
def last_day_of_month(month: Month, *, world: World) -> dt.date:
    """The last day of a month, the present or next one of that name."""
    bounds = full_month(month, world=world).bounds
    return bounds[1] if bounds else world.today


@function("nextHoliday")
def next_holiday_from(date: dt.date, holiday: Holiday) -> dt.date:
    """The holiday's next date, strictly after another."""
    found = [dates.holiday_in(date.year + n, holiday) for n in (0, 1)]
    return next(day for day in found if day > date)


@function("previousHoliday")
def previous_holiday(date: dt.date, holiday: Holiday) -> dt.date:
    """The holiday's last date, strictly before another."""
    found = [dates.holiday_in(date.year - n, holiday) for n in (0, 1)]
    return next(day for day in found if day < date)


@function("addPeriods")
def add_periods(x: Period, y: Period) -> Period:
    """Both, one after the other."""
    return Period(x.years + y.years, x.months + y.months, x.weeks + y.weeks, x.days + y.days)


def _range(first: dt.date, last: dt.date) -> Constraint[dt.date]:
    return Constraint(lambda day: first <= day <= last, first, (first, last))


@function("LastPeriod")
def last_period(period: Period, *, world: World) -> Constraint[dt.date]:
    """A period up to today."""
    return _range(dates.shifted(world.today, period, -1), world.today)


@function("LastWeekendOfMonth")
def last_weekend_of_month(month: Month, *, world: World) -> Constraint[dt.date]:
    """The last weekend of a month."""
    last = last_day_of_month(month, world=world)
    return _range(*dates.weekend_of(dates.previous_weekday(last, DayOfWeek.SATURDAY)))


@function("MonthDayToDay")
def month_day_to_day(month: Month, num1: int, num2: int, *, world: World) -> Constraint[dt.date]:
    """From one day of a month to another."""
    first = dates.next_month_day(world.today, month.number, num1)
    return _range(first, first.replace(day=num2))


@function("Future")
def future(*, world: World) -> Constraint[dt.date]:
    """Any day after today."""
    return Constraint(lambda day: day > world.today, world.today + DAY)


# Conditions on parts of a day


@function("Weekend")
def weekend() -> Constraint[DayOfWeek]:
    """Saturday or Sunday."""
    return Constraint(lambda dow: dow.number >= 5, DayOfWeek.SATURDAY)


@function("Weekdays")
def weekdays() -> Constraint[DayOfWeek]:
    """Monday to Friday."""
    return Constraint(lambda dow: dow.number < 5, DayOfWeek.MONDAY)


@function("Date.dayOfWeek_?")
def day_of_week_constraint(date: Constraint[DayOfWeek], *, world: World) -> Constraint[dt.date]:
    """Days whose weekday meets the condition."""
    return _days(lambda day: date.test(list(DayOfWeek)[day.weekday()]), world)


@function("Date.day_?")
def day_constraint(obj: Constraint[Day], *, world: World) -> Constraint[dt.date]:
    """Days whose number meets the condition."""
    return _days(lambda day: obj.test(Day(day.day)), world)


@function("Date.month_?")
def month_constraint(obj: Constraint[Month], *, world: World) -> Constraint[dt.date]:
    """Days whose month meets the condition."""
    return _days(lambda day: obj.test(Month(day.month)) or obj.test(Month(day.month, day.year)), world)


def _days(test: Callable[[dt.date], bool], world: World) -> Constraint[dt.date]:
    ahead = (world.today + n * DAY for n in range(400))
    return Constraint(test, next((day for day in ahead if test(day)), None))
