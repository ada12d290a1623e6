"""Unpack an archive into an empty folder, or refuse it whole."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import posixpath
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lorepack.errors import LorepackError
from lorepack.util.zstd import zstd

MAX_ENTRIES = 200_000
MAX_BYTES = 8 * 2**30
MAX_RATIO = 300
"""Unpacked size to packed size, beyond `_FREE`; plain text packs to a tenth, seldom to a 50th."""
_FREE = 50 * 2**20
_BLOCK = 2**20
_MAX_NAME = 255
_DRIVE = re.compile(r"^[A-Za-z]:")
_JUNK = re.compile(r"(?:^|/)(?:__MACOSX(?:/|$)|\.DS_Store$|Thumbs\.db$|\._[^/]*$)")
_TAR_MAGIC = (257, b"ustar")
_OPEN: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": zstd.open,
}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, ValueError)


class Refused(Exception):
    """An archive that is not unpacked; the text says why."""


@dataclass
class Budget:
    """What may still be unpacked from ``archive``."""

    archive: Path
    entries: int = 0
    written: int = 0
    packed: int = field(init=False)

    def __post_init__(self) -> None:
        self.packed = max(1, self.archive.stat().st_size)

    def take_entry(self) -> None:
        """Count one file or folder."""
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            raise Refused(f"holds more than {MAX_ENTRIES:,} files")

    def take_bytes(self, count: int) -> None:
        """Count bytes before they are written."""
        self.written += count
        if self.written > MAX_BYTES:
            raise Refused(f"unpacks to more than {MAX_BYTES // 2**30} GiB")
        if self.written > _FREE and self.written > MAX_RATIO * self.packed:
            raise Refused(f"unpacks to more than {MAX_RATIO} times its size")


@dataclass(frozen=True)
class Member:
    """A file to be written: its path as decoded, and how to open it."""

    name: str
    open: Callable[[], IO[bytes]]


def unpack(archive: Path, into: Path) -> Path:
    """Unpack zip, tar, gz, bz2, xz or zst below ``into``; an archive of archives, these too.

    Returns:
        The folder that holds the content: a lone top folder stands for it.

    Raises:
        LorepackError: the archive is damaged, or refused; ``into`` may hold files then.
    """
    try:
        budget = Budget(archive)
        _unpack(archive, into / "files", budget)
        inner = _all_archives(into / "files")
        if inner:
            for part in inner:
                _unpack(part, into / "inner", budget)
            return _content(into / "inner")
        return _content(into / "files")
    except Refused as error:
        raise LorepackError(f"{archive} {error}; it is refused", "pack it anew") from error
    except _BROKEN as error:
        raise LorepackError(f"{archive} cannot be unpacked ({error})", "get it anew") from error


def is_archive(path: Path) -> bool:
    """Say whether a file begins like an archive that `unpack` takes."""
    head = _head(path)
    return _is_zip(head) or _is_tar(head) or any(head.startswith(magic) for magic in _OPEN)


def write_members(members: Iterable[Member], into: Path, budget: Budget) -> None:
    """Write files, each within the budget, none outside ``into``, no two at one place."""
    taken: dict[str, str] = {}
    for member in members:
        name = safe_name(member.name)
        if _JUNK.search(name):
            continue
        _claim(name, taken)
        target = into.joinpath(*map(_short, name.split("/")))
        target.parent.mkdir(parents=True, exist_ok=True)
        with member.open() as source, target.open("xb") as file:
            copy_limited(source, file, budget)


def safe_name(name: str) -> str:
    """Return a member's path with forward slashes, NFC.

    Raises:
        Refused: it is absolute or leaves the archive.
    """
    path = unicodedata.normalize("NFC", name.replace("\\", "/"))
    if path.startswith("/") or _DRIVE.match(path):
        raise Refused(f"holds the absolute path {name!r}")
    if "\0" in path or ".." in path.split("/"):
        raise Refused(f"holds {name!r}, which leaves it")
    clean = posixpath.normpath(path)
    if clean in (".", ""):
        raise Refused(f"holds a file without a name ({name!r})")
    return clean


def copy_limited(source: IO[bytes], target: IO[bytes], budget: Budget) -> None:
    """Copy in blocks; what lies about its size runs into the budget."""
    while block := source.read(_BLOCK):
        budget.take_bytes(len(block))
        target.write(block)


def decode_names(raw: list[bytes]) -> list[str]:
    """Return names of one archive in the encoding that fits them all."""
    try:
        return [name.decode() for name in raw]
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        odd = b"\n".join(sorted({name for name in raw if not name.isascii()}))
        guess: Any = from_bytes(odd).best()
        encoding = guess.encoding if guess else "cp437"
        return [name.decode(encoding, "replace") for name in raw]


def _unpack(archive: Path, into: Path, budget: Budget) -> None:
    from lorepack_builder.acquire.archive.tar import unpack_tar
    from lorepack_builder.acquire.archive.zip import unpack_zip

    into.mkdir(parents=True, exist_ok=True)
    head = _head(archive)
    if _is_zip(head):
        unpack_zip(archive, into, budget)
    elif _is_tar(head):
        unpack_tar(archive, into, budget)
    else:
        opener = next((use for magic, use in _OPEN.items() if head.startswith(magic)), None)
        if opener is None:
            raise Refused("is no zip, tar, gz, bz2, xz or zst")
        stream = into.parent / "stream"
        with opener(archive) as source, stream.open("wb") as file:
            copy_limited(source, file, budget)
        if _is_tar(_head(stream)):
            # The same bytes are about to be counted as files.
            budget.written -= stream.stat().st_size
            unpack_tar(stream, into, budget)
            stream.unlink()
        else:
            budget.take_entry()
            stream.rename(into / _short(_inner_name(archive.name)))


def _inner_name(name: str) -> str:
    stem, suffix = posixpath.splitext(name)
    return stem + (".tar" if suffix.lower() in (".tgz", ".tbz2", ".txz") else "")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(512)


def _is_zip(head: bytes) -> bool:
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def _is_tar(head: bytes) -> bool:
    start, magic = _TAR_MAGIC
    return head[start : start + len(magic)] == magic


def _all_archives(folder: Path) -> list[Path]:
    """Return the files of an archive if all are archives, as in Notion's exports."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return files if files and all(map(is_archive, files)) else []


def _content(folder: Path) -> Path:
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    hidden = any(entry.name.startswith(".") for entry in folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() and not hidden else folder


def _claim(name: str, taken: dict[str, str]) -> None:
    """Note a path and its folders; none may differ from another in case alone."""
    parts = name.split("/")
    for end in range(1, len(parts) + 1):
        is_file = end == len(parts)
        path = "/".join(parts[:end]) + ("" if is_file else "/")
        key = unicodedata.normalize("NFC", path.rstrip("/").casefold())
        if key in taken and (is_file or taken[key] != path):
            raise Refused(f"holds {path!r} and {taken[key]!r}, which are one name to some systems")
        taken[key] = path


def _short(part: str) -> str:
    """Return a name that a file system takes, its suffix kept."""
    data = part.encode("utf-8", "replace")
    if len(data) <= _MAX_NAME:
        return data.decode()
    suffix = posixpath.splitext(part)[1][:20]
    digest = hashlib.sha256(data).hexdigest()[:12]
    room = _MAX_NAME - len(suffix.encode()) - len(digest) - 1
    return f"{data[:room].decode('utf-8', 'ignore')}-{digest}{suffix}"
