"""``atom.xml``: new and changed pages as a feed (RFC 4287)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from lorepack_builder.history.changes import recent_pages
from lorepack_builder.model import Page
from lorepack_builder.render.model import SiteInput

_EVER = "0001-01-01"
MAX_ENTRIES = 100
_UNWRITABLE = re.compile(r"[\x00-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 has no form for, and line ends."""
_ATOM = "http://www.w3.org/2005/Atom"


def atom_feed(given: SiteInput, address: str) -> bytes:
    """Return the feed: what changed since the previous pack, or else the latest pages by date."""
    built = datetime.fromtimestamp(given.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    feed = Element("feed", xmlns=_ATOM)
    _text(feed, "title", given.title)
    _text(feed, "id", uuid5(NAMESPACE_URL, f"lorepack:{given.name}").urn)
    SubElement(feed, "link", rel="self", href=f"{address}atom.xml")
    SubElement(feed, "link", href=address)
    author = SubElement(feed, "author")
    _text(author, "name", given.title)
    entries = _entries(given)
    updated = [_moment(page, built) for page, _ in entries]
    _text(feed, "updated", max([built, *updated]) if given.epoch else max(updated, default=built))
    for (page, kind), moment in zip(entries, updated, strict=True):
        entry = SubElement(feed, "entry")
        _text(entry, "title", page.title)
        identity = f"lorepack:{given.name}:{page.path}:{page.hash}"
        _text(entry, "id", uuid5(NAMESPACE_URL, identity).urn)
        _text(entry, "updated", moment)
        SubElement(entry, "link", href=address + quote(given.urls[page.path]))
        SubElement(entry, "category", term=kind)
        if page.summary:
            _text(entry, "summary", page.summary)
    return bytes(ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True))


def _entries(given: SiteInput) -> list[tuple[Page, str]]:
    if given.changes is None:
        return [(page, "recent") for page in recent_pages(given.pages, _EVER)[:MAX_ENTRIES]]
    pages = given.map.pages
    kept = [change for change in given.changes.pages if change.path in pages]
    return [(pages[change.path].page, change.how) for change in kept[:MAX_ENTRIES]]


def _moment(page: Page, built: str) -> str:
    day = page.day
    return f"{day}T00:00:00Z" if day else built


def _text(parent: Element, tag: str, text: str) -> None:
    SubElement(parent, tag).text = _UNWRITABLE.sub("", text)
