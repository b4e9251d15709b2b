"""Read times and dates by the grammar of XML Schema 1.1 (part 2, sections 3.3.7 and 3.3.9), as SPARQL does.

A year may be 0000, negative, or of more than four digits; ``24:00:00`` is the first instant of the next day;
a fraction has any number of digits. Python's ``fromisoformat`` refuses these, and reads texts that are no
time.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# The times that Python reads as XML Schema does
_PLAIN = re.compile(
    r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    r"(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9])?"
)
_TIME = re.compile(
    r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:(Z)|([+-])(0[0-9]|1[0-3]|14(?=:00)):([0-5][0-9]))?"
)
# The years after which the Gregorian calendar repeats itself
_CYCLE = 400


_Key = tuple[int | str, ...]


class Rounded(datetime):
    """A time that Python cannot hold, without its last digits, or at an end of Python's years.

    It has the time's own text, and its own place in the order of times.
    """

    text = ""
    key: _Key = ()

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """The time as it was written."""
        return self.text or super().isoformat(sep, timespec)

    def __str__(self) -> str:
        return self.isoformat(" ")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, datetime) and _key(self) == _key(other)

    def __lt__(self, other: datetime) -> bool:
        return _key(self) < _key(other)

    def __le__(self, other: datetime) -> bool:
        return _key(self) <= _key(other)

    def __gt__(self, other: datetime) -> bool:
        return _key(self) > _key(other)

    def __ge__(self, other: datetime) -> bool:
        return _key(self) >= _key(other)

    def __hash__(self) -> int:
        return hash(_key(self))


def _key(time: datetime) -> _Key:
    """The place of a time in UTC: year to second, and the digits of the fraction."""
    if isinstance(time, Rounded) and time.key:
        return time.key
    time = time.astimezone(UTC)
    return (*time.timetuple()[:6], f"{time.microsecond:06}".rstrip("0"))


def read_time(text: str) -> datetime:
    """Read an ``xsd:dateTime``; its zone stays.

    Raises:
        ValueError: the text is no ``xsd:dateTime``, or has a year or fraction that Python cannot hold.

    >>> read_time("1999-12-31T24:00:00Z").isoformat()
    '2000-01-01T00:00:00+00:00'
    """
    if _PLAIN.fullmatch(text):
        return datetime.fromisoformat(text)
    time, years, fraction = _parts(text)
    if len(fraction) > 6:
        raise ValueError(text)
    return time.replace(year=time.year + years)


def read_instant(text: str) -> datetime | None:
    """Read an ``xsd:dateTime`` in UTC, as a :class:`Rounded` if Python cannot hold it.

    A leap second, which XML Schema does not have, becomes the next second. A time without a zone gives
    ``None``.

    Raises:
        ValueError: the text is no ``xsd:dateTime``.

    >>> print(read_instant("-0044-03-15T12:00:00Z"))
    -0044-03-15T12:00:00Z
    """
    if text.endswith("Z") and _PLAIN.fullmatch(text):
        return datetime.fromisoformat(text)
    plain = re.sub(r"(?<=T[0-9]{2}:[0-5][0-9]:)60", "59", text)
    time, years, fraction = _parts(plain)
    if time.tzinfo is None:
        return None
    time = time.astimezone(UTC) + timedelta(seconds=plain != text)
    year = time.year + years
    if len(fraction) <= 6 and 1 <= year <= 9999:
        return time.replace(year=year)
    near = datetime.min if year < 1 else datetime.max if year > 9999 else time.replace(year=year)
    rounded = Rounded.combine(near.date(), near.time(), UTC)
    rounded.text, rounded.key = text, (year, *time.timetuple()[1:6], fraction)
    return rounded


def read_date(text: str) -> date:
    """Read an ``xsd:date`` without a zone.

    Raises:
        ValueError: the text is no ``xsd:date`` without a zone, or has a year that Python cannot hold.
    """
    if not _DATE.fullmatch(text):
        raise ValueError(text)
    return date.fromisoformat(text)


def _parts(text: str) -> tuple[datetime, int, str]:
    """A time in a year from 2000 on, the years to add to it (whole cycles), and its fraction's digits."""
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError(text)
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    digits, utc, sign, hours, minutes = match.groups()[6:]
    fraction = (digits or "").rstrip("0")
    end_of_day = hour == 24 and not (minute or second or fraction)
    zone = UTC if utc else None
    if sign:
        away = timedelta(hours=int(hours), minutes=int(minutes))
        zone = timezone(away if sign == "+" else -away)
    in_cycle = 2000 + year % _CYCLE
    micro = int(fraction[:6].ljust(6, "0"))
    time = datetime(in_cycle, month, day, 0 if end_of_day else hour, minute, second, micro, zone)
    return time + timedelta(days=end_of_day), year - in_cycle, fraction
