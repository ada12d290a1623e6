"""Where the sources of a pack lie in their repository."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from lorepack.errors import LorepackError
from lorepack_server.packs.mount import Mount

_SOURCES = "SELECT name, origin, revision, subdir FROM sources"


def source_roots(mount: Mount, given: Sequence[str]) -> Mapping[str, str]:
    """Return the folder of each source, seen from the top of its repository.

    A source that was read from a commit knows; of others, it is the path in the recipe without
    leading ``../``.

    Args:
        given: ``SOURCE=DIR``, which win.

    Raises:
        LorepackError: one of them is no such pair, or names no source.
    """
    roots = {
        row["name"]: row["subdir"] if row["revision"] else _inside(row["origin"])
        for row in mount.connection().execute(_SOURCES)
    }
    for pair in given:
        name, sign, folder = pair.partition("=")
        if not sign or name not in roots:
            raise LorepackError(
                f"--root {pair!r} is not SOURCE=DIR", f"the sources are {', '.join(roots)}"
            )
        roots[name] = _inside(folder)
    return roots


def _inside(path: str) -> str:
    if posixpath.isabs(path) or "://" in path:
        return ""
    parts = posixpath.normpath(path).split("/")
    return "/".join(part for part in parts if part not in ("..", "."))
