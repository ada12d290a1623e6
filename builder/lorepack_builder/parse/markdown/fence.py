"""Code fences that what they hold cannot close."""

from __future__ import annotations

import re

_RUN = re.compile(r"`{3,}")


def fence_ticks(text: str) -> str:
    """Return more backquotes than ``text`` has anywhere in a row, and at least three."""
    longest = max((len(run) for run in _RUN.findall(text)), default=2)
    return "`" * (longest + 1)


def fenced(text: str, language: str) -> str:
    """Return ``text`` as a code block; nothing for nothing."""
    ticks = fence_ticks(text)
    return f"{ticks}{language}\n{text}\n{ticks}" if text.strip() else ""
