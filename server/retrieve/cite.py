"""Where a passage can be read: its citation."""

from __future__ import annotations

import sqlite3
from urllib.parse import quote

from lorepack.server.mount import Mount


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
