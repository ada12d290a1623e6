"""The order of versions: which of two is the newer.

Numbers count as numbers, and what follows ``-`` comes before the release, as in Semantic Versioning
2.0.0, section 11; forms of PEP 440 without a hyphen (``1.0rc1``, ``1.0.dev1``, ``1.0.post1``) are
understood too. Build metadata behind ``+`` decides only between versions that are equal else.
"""

from __future__ import annotations

import re

Key = tuple[tuple[int, ...], int, tuple[tuple[int, int, str], ...], tuple[int, ...], str]
"""Numbers of the release, whether it is before (-1) or after (1) it, identifiers, and the rest."""

_RELEASE = re.compile(r"[vV]?(\d+(?:\.\d+)*)(.*)", re.DOTALL)
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_PHASES = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "c": 3, "rc": 3, "pre": 3, "preview": 3}
_AFTER = ("post", "rev", "r")
_OTHER = 2
"""Where any other word is among them, as between ``beta`` and ``rc`` by its letters."""


def version_key(version: str) -> Key:
    """Return what ``version`` is ordered by: a tuple that can be compared with any other's."""
    public, _, build = version.partition("+")
    match = _RELEASE.fullmatch(public)
    numbers, rest = (match[1], match[2]) if match else ("", public)
    release = tuple(map(int, numbers.split("."))) if numbers else ()
    while release and not release[-1]:
        release = release[:-1]
    parts = _PARTS.findall(rest.lower())
    identifiers = tuple(map(_identifier, parts))
    after = bool(parts) and parts[0] in _AFTER and not rest.startswith("-")
    phase = 1 if after else -1 if parts else 0
    builds = tuple(int(part) for part in _PARTS.findall(build) if part.isdecimal())
    return release, phase, identifiers, builds, version


def _identifier(part: str) -> tuple[int, int, str]:
    """A number is less than any word; words of known phases are in the order of those."""
    if part.isdecimal():
        return 0, int(part), ""
    return 1, _PHASES.get(part, _OTHER), "" if part in _PHASES else part
