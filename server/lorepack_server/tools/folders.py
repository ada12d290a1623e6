"""A page or a folder, as the arguments of tools name one."""

from __future__ import annotations

import sqlite3

from lorepack_server.retrieve.page_names import find_pages

_INSIDE = "SELECT 1 FROM pages WHERE substr(path, 1, length(:path) + 1) = :path || '/' LIMIT 1"


def page_or_folder(pack: sqlite3.Connection, name: str) -> str:
    """Return the path of the folder or the page that ``name`` means.

    What is neither, or may be several pages, is returned as it is, without slashes at its ends.
    """
    path = name.strip().replace("\\", "/").strip("/")
    if not path or pack.execute(_INSIDE, {"path": path}).fetchone():
        return path
    places = find_pages(pack, name, symbols=False)
    return places[0].path if len(places) == 1 else path
