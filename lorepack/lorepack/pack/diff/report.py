"""A difference as text, and as a changelog in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lorepack.pack.diff.model import HOWS, KINDS, Change, Difference, How, Kind

PLURALS: dict[Kind, str] = {
    "page": "pages", "section": "sections", "edge": "links", "symbol": "symbols",
    "finding": "findings",
}  # fmt: skip
_SIGNS: dict[How, str] = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
_SPECIAL = re.compile(r"([\\`*_\[\]<>])")


def as_text(difference: Difference) -> str:
    """Return a line for what is compared, one for the numbers of each kind, one for each change."""
    old, new = difference.old, difference.new
    lines = [f"{old['name']} {old['version']} → {new['name']} {new['version']}"]
    lines += numbers(difference.counts())
    for change in difference.changes:
        title = f" ({change.title})" if change.title else ""
        lines.append(f"{_SIGNS[change.how]} {change.kind} {change.name}{title}")
    return "\n".join(lines)


def as_changelog(difference: Difference) -> str:
    """Return what a reader of the pack should know: pages with their sections, then numbers."""
    lines = [f"## {difference.new['version']}", ""]
    if not difference.changes:
        return "\n".join([*lines, f"Nothing differs from {difference.old['version']}.", ""])
    lines += [f"Since {difference.old['version']}: {'; '.join(numbers(difference.counts()))}.", ""]
    for how in HOWS:
        pages = [c for c in difference.changes if c.kind == "page" and c.how == how]
        if pages:
            lines += [f"### {how.capitalize()}", ""]
            lines += [line for page in pages for line in _page_lines(page, difference)]
            lines.append("")
    return "\n".join(lines)


def _page_lines(page: Change, difference: Difference) -> Iterator[str]:
    yield f"- {_plain(page.title)} (`{page.name}`)"
    for change in difference.changes:
        if change.kind == "section" and change.name.partition("#")[0] == page.name:
            yield f"  - {change.how}: {_plain(change.title)}"


def numbers(counts: Mapping[Any, Mapping[Any, int]]) -> list[str]:
    """Return how many changes there are, a text for each kind that has any."""
    return [
        f"{PLURALS[kind]}: {', '.join(f'{count} {how}' for how, count in counts[kind].items())}"
        for kind in KINDS
        if counts.get(kind)
    ]


def _plain(text: str) -> str:
    """A title is no markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
