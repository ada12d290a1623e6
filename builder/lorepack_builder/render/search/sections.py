"""The plain text of a page's HTML, by heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

# The sanitiser writes whole tags and quotes every attribute.
TAG = re.compile(r"<(?:\"[^\"]*\"|[^\">])*>")
_HEADING = re.compile(r"<h[1-6] id=\"([^\"]*)\">(.*?)</h[1-6]>", re.DOTALL)
_INLINE = re.compile(r"</?(?:a|b|code|del|em|i|input|ins|kbd|label|mark|s|span|strong|sub|sup|u)\b")


@dataclass(frozen=True)
class Section:
    """The text below one heading; the anchor is '' above the first."""

    anchor: str
    heading: str
    text: str


def sections(body: str) -> list[Section]:
    """Return the sections of a page's sanitised HTML that hold text or have a heading."""
    return [section for section in _cut(body) if section.text or section.heading]


def plain_text(html: str) -> str:
    """Return what a reader sees of HTML, with single spaces."""
    return " ".join(unescape(TAG.sub(_gap, html)).split())


def _cut(body: str) -> Iterator[Section]:
    anchor, heading, start = "", "", 0
    for match in _HEADING.finditer(body):
        yield Section(anchor, heading, plain_text(body[start : match.start()]))
        anchor, heading, start = unescape(match[1]), plain_text(match[2]), match.end()
    yield Section(anchor, heading, plain_text(body[start:]))


def _gap(tag: re.Match[str]) -> str:
    return "" if _INLINE.match(tag.group()) else " "
