"""The site that a pack holds, and how it is put at an address."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack
from lorepack.util.replace import replaced_folder

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


MAX_FILE = 1 << 28
"""Bytes that a file of a site may have."""


@dataclass(frozen=True)
class SiteFile:
    """A file of the site as a pack holds it: a zlib stream where that is shorter than ``size``.

    Raises:
        LorepackError: it is no bytes, or its size no number.
    """

    size: int
    data: bytes

    def __post_init__(self) -> None:
        # What is declared as bytes may be anything in a pack that somebody forged.
        if not isinstance(self.data, bytes) or not isinstance(self.size, int):
            raise damaged()

    @property
    def deflated(self) -> bool:
        """Whether ``data`` is a zlib stream."""
        return len(self.data) != self.size

    def plain(self) -> bytes:
        """Return the file's content.

        Raises:
            LorepackError: it is no stream of ``size`` bytes, or of more than a file may have.
        """
        if not self.deflated:
            return self.data
        problem = ""
        try:
            stream = zlib.decompressobj()
            # A small stream may hold gigabytes: no more is unpacked than was said.
            plain = stream.decompress(self.data, min(self.size, MAX_FILE) + 1)
            if len(plain) == self.size and stream.eof:
                return plain
        except (zlib.error, ValueError, OverflowError) as error:
            problem = f" ({error})"
        raise damaged(problem)


def damaged(problem: str = "") -> LorepackError:
    """Return what is said of a file that is not as it should be."""
    return LorepackError(f"a file of the site is damaged{problem}", "run `lorepack verify`")


def site_files(pack: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file of the site, as built."""
    for name, size, data in pack.execute(_FILES):
        yield name, SiteFile(size, data).plain()


def unpack_site(pack: Path, folder: Path, url: str = "/") -> None:
    """Write the site of ``pack`` to ``folder``, as `put_site` does.

    Args:
        url: where the site will live, ``https://host/path/`` or only ``/path/``.

    Raises:
        LorepackError: ``pack`` cannot be opened, or ``folder`` not be written.
    """
    with closing(open_pack(pack)) as opened:
        put_site(site_at(opened, url), folder)


def site_at(pack: sqlite3.Connection, url: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the site as they must be at ``url``; see `unpack_site`.

    Raises:
        LorepackError: a file's name would leave the site.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    path = parts.path.strip("/")
    root = f"/{path}/" if path else "/"
    for name, data in site_files(pack):
        _check_name(name)
        yield name, at_address(name, data, origin, root) if is_addressed(name) else data


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
    with replaced_folder(folder, _SIGN, "site") as new:
        for name, data in files:
            _write(new, name, data)


def _write(folder: Path, name: str, data: bytes) -> None:
    _check_name(name)
    path = folder.joinpath(*name.split("/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _check_name(name: str) -> None:
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise LorepackError(f"the site's file {name!r} would leave it", "do not trust this pack")
