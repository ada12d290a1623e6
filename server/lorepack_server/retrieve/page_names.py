"""Find the page that a name means: whatever the server hands out, and what people write."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from lorepack.text.tokenize import fold
from lorepack_server.retrieve.citations import BY_PATH

MOST = 20
"""Candidates that are told of one name."""

_BY_PATH = "SELECT path FROM pages WHERE path = ?"
_BY_URL = "SELECT path FROM pages WHERE url IN (?, ?)"
_BY_NAME = """
SELECT path FROM names JOIN pages ON pages.id = names.page_id WHERE name = ? ORDER BY path
"""
_PATHS = "SELECT path FROM pages ORDER BY path"
_SYMBOLS = """
SELECT DISTINCT file, symbols.name, anchor FROM symbol_names
JOIN symbols ON symbols.id = symbol_names.symbol_id
WHERE symbol_names.name = :folded ORDER BY symbols.name <> :name, length(file), file, symbols.id
"""

_WRAPPED = re.compile(r"^!?\[\[(?P<wiki>[^\[\]]+)\]\]$|^!?\[[^\]]*\]\((?P<link>[^()\s]+)\)$")
_LINES = re.compile(r"(?:\s+L|:)(?P<first>\d{1,9})(?:-\d+)?(?:\s+@\s.*)?$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SITE = re.compile(r"^.*?/site/(?P<pack>[a-z0-9-]+)(?:@[^/]*)?/(?P<url>.*)$")
_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{0,9}$")


@dataclass(frozen=True)
class Place:
    """A page, and what in it was named: a section by anchor or heading, or a line, or neither."""

    path: str
    section: str = ""
    line: int = 0


@dataclass(frozen=True)
class PageName:
    """A name as read: the pack that it says, or '', what is left of it, and the section."""

    pack: str
    text: str
    section: str
    line: int = 0
    is_site_url: bool = False


def read_page_name(name: str) -> PageName:
    """Take apart a citation, an address, a ``[[wikilink]]``, a path with ``#anchor`` or lines."""
    text = unicodedata.normalize("NFC", name).strip().strip("`'\"<>").strip()
    if match := _WRAPPED.match(text):
        text = (match["wiki"] or match["link"]).partition("|")[0].strip("<>")
    lines = _LINES.search(text)
    line = int(lines["first"]) if lines else 0
    text = _LINES.sub("", text).strip().strip("<>")
    if not _SCHEME.match(text):
        path, _, section = text.partition("#")
        return PageName("", path.strip(), unquote(section).strip(), line)
    parts = urlsplit(text)
    path, section = unquote(parts.path), unquote(parts.fragment)
    if parts.scheme.lower() == "lorepack":
        return PageName(parts.netloc.partition("@")[0], path.lstrip("/"), section, line)
    if match := _SITE.match(path):
        by_path = match["url"].startswith(BY_PATH)
        text = match["url"].removeprefix(BY_PATH)
        return PageName(match["pack"], text, section, line, is_site_url=not by_path)
    # A line of a file at its host is no section.
    return PageName("", path, "" if re.match(r"^L\d|^lines-", section) else section)


def find_pages(pack: sqlite3.Connection, name: str, *, symbols: bool = True) -> list[Place]:
    """Return the places that ``name`` may mean: those of the first way of naming that finds any.

    In this order: the exact path; an address; the path in any case, without its extension, with
    ``\\`` or ``%20``; a title or alias; the end of a path; a symbol's name, qualified or not,
    unless ``symbols`` is false.
    """
    raw = unicodedata.normalize("NFC", name).strip()
    if found := _paths(pack, _BY_PATH, raw):
        return [Place(found[0])]
    read = read_page_name(name)
    for find in _WAYS if symbols else _WAYS[:-1]:
        if places := find(pack, read, raw):
            return places[:MOST]
    return []


def _by_path(pack: sqlite3.Connection, read: PageName, raw: str) -> list[Place]:
    return [Place(path, read.section, read.line) for path in _paths(pack, _BY_PATH, read.text)]


def _by_url(pack: sqlite3.Connection, read: PageName, raw: str) -> list[Place]:
    if not read.is_site_url:
        return []
    url = read.text.removesuffix("index.html")
    found = _paths(pack, _BY_URL, url, f"{url.rstrip('/')}/")
    return [Place(path, read.section, read.line) for path in found]


def _by_same_path(pack: sqlite3.Connection, read: PageName, raw: str) -> list[Place]:
    wanted = _key(read.text)
    exact = [path for path in _paths(pack, _PATHS) if wanted and _key(path) == wanted]
    if not exact:
        bare = _bare(wanted)
        exact = [path for path in _paths(pack, _PATHS) if bare and _bare(_key(path)) == bare]
    return [Place(path, read.section, read.line) for path in exact]


def _by_title(pack: sqlite3.Connection, read: PageName, raw: str) -> list[Place]:
    for title, section in (
        (raw, ""),
        (read.text, read.section),
        (unquote(read.text), read.section),
    ):
        folded = fold(title).strip()
        if found := _paths(pack, _BY_NAME, folded) if folded else []:
            return [Place(path, section) for path in found]
    return []


def _by_end_of_path(pack: sqlite3.Connection, read: PageName, raw: str) -> list[Place]:
    """Find paths that end as the name does; of an address, with as much of it as can be."""
    parts = _key(read.text).split("/")
    paths = _paths(pack, _PATHS)
    for begin in range(len(parts) if _SCHEME.match(raw) else 1):
        wanted = "/".join(parts[begin:])
        bare = _bare(wanted)
        if not wanted:
            continue
        exact = [path for path in paths if f"/{_key(path)}".endswith(f"/{wanted}")]
        found = exact or [path for path in paths if f"/{_bare(_key(path))}".endswith(f"/{bare}")]
        if found:
            return [Place(path, read.section, read.line) for path in found]
    return []


def _by_symbol(pack: sqlite3.Connection, read: PageName, raw: str) -> list[Place]:
    return [Place(row["file"], row["anchor"]) for row in find_symbols(pack, raw)]


def find_symbols(pack: sqlite3.Connection, name: str) -> list[sqlite3.Row]:
    """Return the symbols (``file``, ``name``, ``anchor``) of a name, with or without its module."""
    parts = [part for part in re.split(r"::|\.|#", name.strip().removesuffix("()")) if part]
    for begin in range(len(parts)):
        wanted = ".".join(parts[begin:])
        rows = pack.execute(_SYMBOLS, {"folded": fold(wanted), "name": wanted}).fetchall()
        modules = [part.lower() for part in parts[:begin]]
        inside = [row for row in rows if all(m in row["file"].lower() for m in modules)]
        exact = [row for row in inside if row["name"] == wanted]
        if exact or inside:
            return exact or inside
    return []


_Way = Callable[[sqlite3.Connection, PageName, str], list[Place]]
_WAYS: Sequence[_Way] = (_by_path, _by_url, _by_same_path, _by_title, _by_end_of_path, _by_symbol)


def _paths(pack: sqlite3.Connection, statement: str, *values: str) -> list[str]:
    return [row[0] for row in pack.execute(statement, values)]


def _key(path: str) -> str:
    """Return a path as it is compared: decoded, with slashes, in no case."""
    text = unicodedata.normalize("NFC", unquote(path)).replace("\\", "/").casefold()
    return text.removeprefix("./").strip("/")


def _bare(key: str) -> str:
    return _EXTENSION.sub("", key)


@dataclass(frozen=True)
class Section:
    """A heading's section: lines of the file, the last one not in it; None is the page's end."""

    text: str
    anchor: str
    line: int
    end: int | None


_HEADINGS = "SELECT level, text, anchor, line FROM headings WHERE page_id = ? ORDER BY ordinal"


def page_sections(pack: sqlite3.Connection, page_id: int) -> list[Section]:
    """Return the sections of a page, each with those below it, in order."""
    rows = pack.execute(_HEADINGS, (page_id,)).fetchall()
    return [
        Section(row["text"], row["anchor"], row["line"],
                next((h["line"] for h in rows[at + 1 :] if h["level"] <= row["level"]), None))
        for at, row in enumerate(rows)
    ]  # fmt: skip


def section_at(sections: Sequence[Section], line: int) -> Section | None:
    """Return the innermost section that a line of the file is in; None before the first one."""
    return next((s for s in reversed(sections) if s.line <= line), None)


def find_sections(sections: Sequence[Section], name: str) -> list[Section]:
    """Return the sections that ``name`` may mean, by the first of these that finds any.

    An anchor; a whole heading; what a heading has before ``(``; the beginning of one.
    """
    wanted = name.strip().lstrip("#").strip()
    for match in _section_matches(wanted):
        if found := [section for section in sections if match(section)]:
            return found[:MOST]
    return []


def _section_matches(wanted: str) -> Iterator[Callable[[Section], bool]]:
    plain, called = _plain(wanted), _plain(wanted.partition("(")[0])
    yield lambda section: section.anchor == wanted
    yield lambda section: section.text == wanted
    yield lambda section: section.anchor == unquote(wanted).lower()
    yield lambda section: section.text.casefold() == wanted.casefold()
    if plain:
        yield lambda section: _plain(section.text) == plain
        yield lambda section: _plain(section.text.partition("(")[0]) == called
        yield lambda section: _plain(section.text).startswith(plain)
        yield lambda section: _plain(section.anchor).startswith(plain)


def _plain(text: str) -> str:
    """Return the letters and digits of a heading, as they are compared."""
    return "".join(
        sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum()
    )
