"""The rendered site, straight out of a pack's archive table."""

from __future__ import annotations

import mimetypes
import zlib
from dataclasses import dataclass

from lorepack.server.mount import Mount

_FILE = "SELECT sz, data FROM sqlar WHERE name = ?"
_TYPES = {
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".pagefind": "application/octet-stream",
}


@dataclass(frozen=True)
class SiteFile:
    """A file of the site, as it was before compression."""

    data: bytes
    media_type: str


def read_file(mount: Mount, path: str) -> SiteFile | None:
    """Return the file at ``path``; a folder is its ``index.html``; None when there is none."""
    name = f"{path}index.html" if not path or path.endswith("/") else path
    row = mount.connection().execute(_FILE, (name,)).fetchone()
    if row is None:
        return None
    size, stored = row
    data = stored if len(stored) == size else zlib.decompress(stored, bufsize=size)
    return SiteFile(data, media_type(name))


def media_type(name: str) -> str:
    """Return the Content-Type of a file by its name."""
    suffix = name[name.rfind(".") :].lower()
    kind = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    textual = kind.startswith("text/") or kind in ("application/json", "application/xml")
    return f"{kind}; charset=utf-8" if textual else kind
