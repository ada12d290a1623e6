"""Dates as people write them, in the one form that sorts."""

from __future__ import annotations

import re
from datetime import date, time

_MOMENT = re.compile(
    r"(?P<year>\d{4})(?P<sign>[-/.年]?)(?P<month>\d{1,2})(?:(?P=sign)|月)(?P<day>\d{1,2})日?"
    r"(?:[T ]+(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
    r"(?!\d)"
)


def iso_moment(text: str) -> str:
    """Return the day, and time if there is one, that ``text`` begins with, in ISO 8601, or ''.

    ``2026/1/5``, ``20260105``, ``2026.01.05 9:30`` and ``2026年1月5日`` are days.
    """
    match = _MOMENT.match(text.strip(" [\"'"))
    if match is None:
        return ""
    if not match["sign"] and len(match["month"]) + len(match["day"]) != 4:
        return ""
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"])).isoformat()
    except ValueError:
        return ""
    return day + _clock(match["time"], match["zone"] or "")


def _clock(written: str | None, zone: str) -> str:
    if written is None:
        return ""
    padded = written if written[2] == ":" else f"0{written}"
    try:
        time.fromisoformat(padded)
    except ValueError:
        return ""
    return f"T{padded}{zone}"
