"""Dates, ranges and holidays, as plain functions. Weeks run from Sunday to Saturday."""

from __future__ import annotations

import calendar
import datetime as dt

from dialoom.domains.calendar.model import DayOfWeek, Holiday, Period

Range = tuple[dt.date, dt.date]


def week_of(day: dt.date) -> Range:
    """The Sunday and Saturday around a day."""
    sunday = day - dt.timedelta(days=(day.weekday() + 1) % 7)
    return sunday, sunday + dt.timedelta(days=6)


def weekend_of(day: dt.date) -> Range:
    """The Saturday and Sunday at the end of the day's working week; a Sunday belongs to the weekend before it."""
    saturday = day - dt.timedelta(days=1) if day.weekday() == 6 else day + dt.timedelta(days=5 - day.weekday())
    return saturday, saturday + dt.timedelta(days=1)


def month_range(year: int, month: int) -> Range:
    """First and last day of a month."""
    return dt.date(year, month, 1), dt.date(year, month, calendar.monthrange(year, month)[1])


def next_weekday(day: dt.date, weekday: DayOfWeek) -> dt.date:
    """The first such weekday strictly after a day."""
    return day + dt.timedelta(days=(weekday.number - day.weekday() - 1) % 7 + 1)


def previous_weekday(day: dt.date, weekday: DayOfWeek) -> dt.date:
    """The last such weekday strictly before a day."""
    return day - dt.timedelta(days=(day.weekday() - weekday.number - 1) % 7 + 1)


def next_day_of_month(day: dt.date, number: int) -> dt.date:
    """The first date strictly after a day whose day of the month is `number`."""
    year, month = day.year, day.month
    for _ in range(13):
        if number <= calendar.monthrange(year, month)[1] and dt.date(year, month, number) > day:
            return dt.date(year, month, number)
        year, month = year + month // 12, month % 12 + 1
    raise ValueError(f"no month has {number} days")


def next_month_day(today: dt.date, month: int, day: int) -> dt.date:
    """The first such date on or after today; a 29th of February waits for its year."""
    for year in range(today.year, today.year + 9):
        if day <= calendar.monthrange(year, month)[1] and dt.date(year, month, day) >= today:
            return dt.date(year, month, day)
    raise ValueError(f"month {month} has no day {day}")


def shifted(day: dt.date, period: Period, sign: int = 1) -> dt.date:
    """A day moved by a period; a day that its month does not have becomes the last one."""
    months = day.year * 12 + day.month - 1 + sign * (12 * period.years + period.months)
    year, month = months // 12, months % 12 + 1
    moved = dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
    return moved + sign * dt.timedelta(days=7 * period.weeks + period.days)


def easter(year: int) -> dt.date:
    """Easter Sunday by the anonymous Gregorian computus (Meeus, Astronomical Algorithms, ch. 8)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    rest = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * rest) // 451
    month, day = divmod(h + rest - 7 * m + 114, 31)
    return dt.date(year, month, day + 1)


_FIXED = {
    Holiday.APRIL_FOOLS: (4, 1),
    Holiday.CHRISTMAS: (12, 25),
    Holiday.CHRISTMAS_EVE: (12, 24),
    Holiday.EARTH_DAY: (4, 22),
    Holiday.GROUNDHOG: (2, 2),
    Holiday.HALLOWEEN: (10, 31),
    Holiday.INDEPENDENCE: (7, 4),
    Holiday.NEW_YEARS: (1, 1),
    Holiday.NEW_YEARS_EVE: (12, 31),
    Holiday.PATRIOT: (9, 11),
    Holiday.ST_PATRICKS: (3, 17),
    Holiday.TAX_DAY: (4, 15),
    Holiday.VALENTINES: (2, 14),
    Holiday.VETERANS: (11, 11),
    Holiday.FLAG_DAY: (6, 14),
    Holiday.BOXING_DAY: (12, 26),
    Holiday.KWANZAA: (12, 26),
    Holiday.CINCO_DE_MAYO: (5, 5),
}
# (month, weekday, which): the which-th such weekday of the month, counted from the end below zero.
_FLOATING = {
    Holiday.COLUMBUS: (10, 0, 2),
    Holiday.FATHERS: (6, 6, 3),
    Holiday.LABOR: (9, 0, 1),
    Holiday.MLK: (1, 0, 3),
    Holiday.MEMORIAL: (5, 0, -1),
    Holiday.MOTHERS: (5, 6, 2),
    Holiday.PRESIDENTS: (2, 0, 3),
    Holiday.THANKSGIVING: (11, 3, 4),
}
_EASTER = {
    Holiday.EASTER: 0,
    Holiday.EASTER_MONDAY: 1,
    Holiday.GOOD_FRIDAY: -2,
    Holiday.PALM_SUNDAY: -7,
    Holiday.MARDI_GRAS: -47,
    Holiday.ASH_WEDNESDAY: -46,
}


def holiday_in(year: int, holiday: Holiday) -> dt.date:
    """The date of a holiday (as kept in the United States)."""
    if holiday in _FIXED:
        return dt.date(year, *_FIXED[holiday])
    if holiday in _EASTER:
        return easter(year) + dt.timedelta(days=_EASTER[holiday])
    if holiday is Holiday.BLACK_FRIDAY:
        return holiday_in(year, Holiday.THANKSGIVING) + dt.timedelta(days=1)
    if holiday is Holiday.ELECTION:
        return _floating(year, 11, 0, 1) + dt.timedelta(days=1)
    return _floating(year, *_FLOATING[holiday])


def _floating(year: int, month: int, weekday: int, which: int) -> dt.date:
    first, last = month_range(year, month)
    if which < 0:
        return last - dt.timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-which - 1))
    return first + dt.timedelta(days=(weekday - first.weekday()) % 7 + 7 * (which - 1))


def season(today: dt.date, first_month: int) -> Range:
    """The present or coming season: three whole months from the first of one."""
    for year in (today.year - 1, today.year, today.year + 1):
        begin = dt.date(year, first_month, 1)
        end = shifted(begin, Period(months=3), 1) - dt.timedelta(days=1)
        if end >= today:
            return begin, end
    raise AssertionError("one of three years has this season")
