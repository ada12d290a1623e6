"""The site that a pack holds, and how it is put at an address."""

from __future__ import annotations

import re
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.open import open_pack

CONTENT_SECURITY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
"""Everything from the site itself. WebAssembly is the search's; diagrams carry their own styles,
and the sanitiser leaves none in a source's HTML."""
NOWHERE = "https://lorepack.invalid/"
"""Stands in files that need whole addresses, where nobody said what the site's will be."""
_FILES = "SELECT name, sz, data FROM sqlar ORDER BY name"
_FROM_ROOT = re.compile(rb'((?:href|src|content)="|"base": ")/')
ADDRESSED = ("robots.txt", "atom.xml")
_SITEMAP = "sitemap"
_SIGN = "pagefind/pagefind-entry.json"
"""A file by which a folder is known for a site."""


@dataclass(frozen=True)
class SiteFile:
    """A file of the site as a pack holds it: a zlib stream where that is shorter than ``size``."""

    size: int
    data: bytes

    @property
    def deflated(self) -> bool:
        """Whether ``data`` is a zlib stream."""
        return len(self.data) != self.size

    def plain(self) -> bytes:
        """Return the file's content."""
        return zlib.decompress(self.data) if self.deflated else self.data


def site_files(pack: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file of the site, as built."""
    for name, size, data in pack.execute(_FILES):
        yield name, SiteFile(size, bytes(data)).plain()


def unpack_site(pack: Path, folder: Path, url: str = "/") -> None:
    """Write the site of ``pack`` to ``folder``, as `put_site` does.

    Args:
        url: where the site will live, ``https://host/path/`` or only ``/path/``.

    Raises:
        LorepackError: ``pack`` cannot be opened, or ``folder`` not be written.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    path = parts.path.strip("/")
    root = f"/{path}/" if path else "/"
    with closing(open_pack(pack)) as opened:
        put_site(
            (
                (name, at_address(name, data, origin, root) if is_addressed(name) else data)
                for name, data in site_files(opened)
            ),
            folder,
        )


def is_addressed(name: str) -> bool:
    """Say whether a file holds whole addresses, or ones from the host's root."""
    return name in ADDRESSED or name == "404.html" or name.startswith(_SITEMAP)


def at_address(name: str, data: bytes, origin: str, root: str) -> bytes:
    """Return a file of `is_addressed` as it must be below ``origin`` + ``root``.

    Args:
        origin: ``https://host``.
        root: where the site lies there: ``/``, or ``/docs/``.
    """
    data = data.replace(NOWHERE.encode(), f"{origin}{root}".encode())
    if name == "404.html":
        # Made for a site at the root of its host, as it answers for addresses of any depth.
        data = _FROM_ROOT.sub(lambda match: match[1] + root.encode(), data)
    return data


def put_site(files: Iterable[tuple[str, bytes]], folder: Path) -> None:
    """Write a site to ``folder``, in place of a site that was there; all of it, or nothing.

    Raises:
        LorepackError: ``folder`` holds something else, a name would leave it, or it cannot be
            written.
    """
    if folder.exists() and not folder.is_dir():
        raise LorepackError(f"{folder} is no folder", "give another")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _SIGN).is_file():
        raise LorepackError(f"{folder} is not empty, and no site", "give a new or empty folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".lorepack-site-", dir=folder.parent) as scratch:
            new, old = Path(scratch) / "new", Path(scratch) / "old"
            new.mkdir(mode=0o755)
            for name, data in files:
                _write(new, name, data)
            if folder.exists():
                folder.replace(old)
            new.replace(folder)
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "check its folder") from error


def _write(folder: Path, name: str, data: bytes) -> None:
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise LorepackError(f"the site's file {name!r} would leave it", "do not trust this pack")
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
