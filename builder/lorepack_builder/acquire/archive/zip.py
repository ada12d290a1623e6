"""Zip files (APPNOTE.TXT of PKWARE)."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lorepack_builder.acquire.archive import Budget, Member, Refused, decode_names, write_members

_ENCRYPTED = 0x1
_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_LOCAL_HEADER = 30


def unpack_zip(archive: Path, into: Path, budget: Budget) -> None:
    """Write the files of a zip.

    Raises:
        Refused: it holds links, devices, encrypted or overlapping entries, or too much.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            entries = file.infolist()
            for entry in entries:
                budget.take_entry()
                _check(entry)
            with archive.open("rb") as raw:
                _check_places(raw, entries)
            names = _names(entries)
            files = [(n, e) for n, e in zip(names, entries, strict=True) if not n.endswith("/")]
            write_members(_members(file, files), into, budget)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise Refused(f"is a damaged zip ({error})") from error


def _members(file: zipfile.ZipFile, files: list[tuple[str, zipfile.ZipInfo]]) -> Iterator[Member]:
    for name, entry in files:
        yield Member(name, lambda entry=entry: file.open(entry))  # type: ignore[misc]


def _check(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise Refused(f"holds {entry.filename!r}, which is encrypted")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise Refused(f"holds the link {entry.filename!r}")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Refused(f"holds {entry.filename!r}, which is no file")


def _check_places(raw: IO[bytes], entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that share bytes: a bomb needs little room that way."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise Refused(f"holds {entry.filename!r}, which overlaps another file")
        raw.seek(entry.header_offset)
        header = raw.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise Refused(f"holds {entry.filename!r}, which is not where its list says")
        lengths = struct.unpack("<HH", header[26:30])
        end = entry.header_offset + _LOCAL_HEADER + sum(lengths) + entry.compress_size


def _names(entries: list[zipfile.ZipInfo]) -> list[str]:
    """Return paths: as UTF-8 where that is said, else in the encoding that fits them all."""
    told = [_told_name(entry) for entry in entries]
    unsure = [e for e, name in zip(entries, told, strict=True) if name is None]
    guessed = iter(decode_names([entry.orig_filename.encode("cp437") for entry in unsure]))
    return [name if name is not None else next(guessed) for name in told]


def _told_name(entry: zipfile.ZipInfo) -> str | None:
    if entry.flag_bits & _UTF8 or entry.orig_filename.isascii():
        return entry.orig_filename
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        raw = entry.orig_filename.encode("cp437")
        # Info-ZIP's field: version 1, CRC-32 of the name that it stands for, the name.
        if kind == _UNICODE_PATH and field[1:5] == struct.pack("<I", zlib.crc32(raw)):
            return field[5:].decode("utf-8", "replace")
    return None
