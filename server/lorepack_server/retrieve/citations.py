"""Where a passage can be read: its citation."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from lorepack.forges import repo_name, source_url

if TYPE_CHECKING:
    from lorepack_server.packs.mount import Mount


def source_place(row: sqlite3.Row, lines: tuple[int, int]) -> dict[str, str]:
    """Return ``repo`` (owner/name), ``commitSha`` and ``sourceUrl`` of a page's lines, or ''s.

    Args:
        row: with the page's ``path``, and of its source ``kind``, ``web``, ``revision`` and
            ``subdir``.
    """
    facts = {name: row[name] for name in ("kind", "web", "revision", "subdir")}
    return {
        "repo": repo_name(row["web"]),
        "commitSha": row["revision"],
        "sourceUrl": source_url(facts, row["path"], lines),
    }


def source_line(place: Mapping[str, str]) -> str:
    """Return the source's part of a citation in one line: `` @ owner/name 0123456789ab``, or ''."""
    named = " ".join(filter(None, (place["repo"], place["commitSha"][:12])))
    return f" @ {named}" if named else ""


BY_PATH = "~/"
"""Below a site: the pages by their paths, so that citations in a text can be short."""


def citation_base(mount: Mount, site_url: str) -> str:
    """Return the address that a `short_citation` goes behind."""
    return f"{site_url}{BY_PATH}" if site_url else f"lorepack://{mount.name}/"


def short_citation(path: str, lines: tuple[int, int]) -> str:
    """Return ``path:16-22``: a page and the lines of a passage in it."""
    first, last = lines
    return f"{path}:{first}" + (f"-{last}" if last != first else "")


def citation_url(mount: Mount, site_url: str, page: sqlite3.Row, anchor: str = "") -> str:
    """Return the address of a page, or of a place in it.

    Args:
        site_url: where the pack's site is, ending in a slash; without one the address is
            ``lorepack://``.
        page: a row with ``path`` and ``url``.
    """
    fragment = f"#{quote(anchor)}" if anchor else ""
    if site_url:
        return f"{site_url}{quote(page['url'])}{fragment}"
    return f"lorepack://{mount.name}/{quote(page['path'])}{fragment}"


_ENCODED = re.compile(r"(?:%[89A-F][0-9A-F])+", re.IGNORECASE)


def readable_url(url: str) -> str:
    """Return an address with its letters as they are written, which are fewer and mean the same.

    Spaces and signs stay encoded, and so does what is not UTF-8.
    """
    return _ENCODED.sub(_letters, url)


def _letters(match: re.Match[str]) -> str:
    try:
        text = unquote(match.group(), errors="strict")
    except UnicodeDecodeError:
        return match.group()
    return text if text.isalnum() else match.group()
