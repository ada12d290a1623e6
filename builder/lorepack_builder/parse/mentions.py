"""What a document names of code: symbols and files, in code font or in a wiki's own forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

from lorepack_builder.model import Link, Mention

_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$~][\w$]*)*!?(?:\(.*\))?")
_FILE = re.compile(
    r"(?:file://|\./|/)?(?P<path>(?:[\w@+.-]+/)*[\w@+.-]+\.[A-Za-z][A-Za-z0-9]{0,7}"
    r"|(?:[\w@+.-]+/)+[\w@+.-]+)"
    r"(?:(?::|#L)(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7}))?)?"
)
_BLOB = re.compile(
    r"https://github\.com/(?P<repo>[\w.-]+/[\w.-]+)/blob/(?P<sha>[0-9a-f]{7,40})/(?P<path>[^#?]+)"
    r"(?:#L(?P<first>\d{1,7})(?:-L(?P<last>\d{1,7}))?)?"
)
_REPO = re.compile(r"https://github\.com/(?P<repo>[\w.-]+/[\w.-]+?)(?:\.git)?/?")
_PAGE_NUMBER = re.compile(r"(\d+(?:\.\d+)*)(?=[-_. ])")
_LONGEST = 200


def read_mention(text: str, line: int) -> Mention | None:
    """Return what text in code font may name, or None.

    A plain lower-case word names nothing by itself: too many words of English are functions.
    """
    text = text.strip()
    if len(text) > _LONGEST or len(text) < 3:
        return None
    if ("/" in text or "." in text) and (match := _FILE.fullmatch(text)):
        return Mention(match["path"], line, _lines(match))
    if not _SYMBOL.fullmatch(text):
        return None
    name = (
        text.partition("(")[0].rstrip("!").replace("::", ".").replace("->", ".").replace("#", ".")
    )
    telling = "(" in text or "." in name or "_" in name.strip("_") or not name.islower()
    return Mention(name, line) if telling else None


def wiki_mentions(links: Iterable[Link]) -> Iterator[Mention]:
    """Yield the places in code that a generated wiki's links cite.

    These are Qoder's ``file://src/a.ts#L10-L40``, DeepWiki's ``[src/a.py:12-40]()`` and
    ``[src/a.py](src/a.py)``, and links to a repository on GitHub or a blob in one.
    """
    for link in links:
        if mention := wiki_mention(link):
            yield mention


def wiki_mention(link: Link) -> Mention | None:
    """Return the place in code that one link cites, or None."""
    target = f"{link.target}#{link.fragment}" if link.fragment else link.target
    if match := _BLOB.fullmatch(target):
        return Mention(f"{match['repo']}:{unquote(match['path'])}", link.line, _lines(match), True)
    if match := _REPO.fullmatch(target):
        return Mention(f"{match['repo']}:", link.line, certain=True)
    if target.startswith("file://"):
        match = _FILE.fullmatch(unquote(target))
    elif not target:
        match = _FILE.fullmatch(link.label.strip("`"))
    elif "://" not in target and not target.lower().split("#")[0].endswith((".md", ".markdown")):
        match = _FILE.fullmatch(unquote(target))
    else:
        match = None
    return Mention(match["path"], link.line, _lines(match), True) if match else None


def page_number(path: str) -> str:
    """Return the number that a DeepWiki page's file begins with (``9.1-tests.md``), or ''."""
    match = _PAGE_NUMBER.match(PurePosixPath(path).name)
    return match[1] if match else ""


def _lines(match: re.Match[str]) -> tuple[int, int] | None:
    if not match["first"]:
        return None
    first = int(match["first"])
    return first, max(first, int(match["last"] or first))
