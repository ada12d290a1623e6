"""A new version of a pack as what differs from an old one.

A delta is one line of JSON (``{"lorepack-delta": 1, "from": …, "to": …, "bytes": …}``; the digests
are hex SHA-256 of whole files) and a Zstandard frame of the new file that has the old one as its
dictionary (RFC 8878, a raw-content dictionary used as a prefix). Against sending the SQLite pages
that are new, `benchmarks/delta.py` measures an eighth of the bytes: a row put in shifts all pages
behind it, but not what stands in them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lorepack.errors import LorepackError
from lorepack.util.hashing import sha256_of
from lorepack.util.zstd import zstd

SUFFIX = ".lorepack-delta"
MAX_BYTES = 1 << 30
"""The largest file that a window of 2 GiB, the widest there is, joins to another of its size."""
_LEVEL = 9
"""Higher levels gained nothing on packs, and took thirty times as long."""
_BLOCK = 1 << 20
_MAX_HEADER = 4096
_FORM = "lorepack-delta"


@dataclass(frozen=True)
class Header:
    """The hex SHA-256 of the old file and of the new one, and the new one's size in bytes."""

    old: str
    new: str
    bytes: int


def joinable(old: Path, new: Path) -> bool:
    """Say whether both files are small enough for a delta."""
    return max(old.stat().st_size, new.stat().st_size) <= MAX_BYTES


def make_delta(old: Path, new: Path, target: Path) -> Header:
    """Write to ``target`` what makes ``new`` of ``old``; the same bytes for the same two files.

    Raises:
        LorepackError: one of them is too large, or a file cannot be read or written.
    """
    try:
        before, after = _read(old), _read(new)
        header = Header(sha256_of(before), sha256_of(after), len(after))
        facts = {_FORM: 1, "from": header.old, "to": header.new, "bytes": header.bytes}
        packed = zstd.compress(after, options=_options(before, after), zstd_dict=_prefix(before))
        target.write_bytes(json.dumps(facts).encode() + b"\n" + packed)
    except OSError as error:
        raise LorepackError(f"{target} cannot be made ({error})", "check the files") from error
    return header


def read_header(delta: Path) -> Header:
    """Return what a delta leads from and to.

    Raises:
        LorepackError: it is no delta, or cannot be read.
    """
    try:
        with delta.open("rb") as file:
            return _header(file, delta)
    except OSError as error:
        raise LorepackError(f"{delta} cannot be read ({error})", "check the file") from error


def apply_delta(old: Path, delta: Path, target: Path) -> str:
    """Write to ``target`` the new file that ``delta`` makes of ``old``; return its hex SHA-256.

    Raises:
        LorepackError: ``delta`` is none, is of another file, or does not give what it says;
            ``target`` is not there then.
    """
    staged = target.with_name(f".{target.name}.new")
    try:
        before = _read(old)
        with delta.open("rb") as file:
            header = _header(file, delta)
            if sha256_of(before) != header.old:
                raise LorepackError(f"{delta} is no delta of {old}", "give the file it was made of")
            digest = _unpack(file, before, header, staged)
        if digest != header.new:
            raise LorepackError(f"{delta} is damaged", "fetch it again, or the whole pack")
        staged.replace(target)
    except (OSError, EOFError, zstd.ZstdError) as error:
        raise LorepackError(f"{delta} cannot be applied ({error})", "fetch the pack") from error
    finally:
        staged.unlink(missing_ok=True)
    return digest


def _unpack(file: IO[bytes], before: bytes, header: Header, staged: Path) -> str:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 31}
    digest, left = hashlib.sha256(), header.bytes
    with (
        zstd.open(file, "rb", options=options, zstd_dict=_prefix(before)) as plain,
        staged.open("wb") as out,
    ):
        # One byte more than was said is enough to see that it says something else.
        while part := plain.read(min(_BLOCK, left + 1)):
            left -= len(part)
            if left < 0:
                raise EOFError("it holds more than it says")
            digest.update(part)
            out.write(part)
    return digest.hexdigest()


def _header(file: IO[bytes], delta: Path) -> Header:
    try:
        facts = json.loads(file.readline(_MAX_HEADER))
        header = Header(str(facts["from"]), str(facts["to"]), int(facts["bytes"]))
        if facts[_FORM] == 1 and 0 <= header.bytes <= MAX_BYTES:
            return header
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise LorepackError(f"{delta} is no delta of packs", f"give a file made as *{SUFFIX}")


def _read(file: Path) -> bytes:
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise LorepackError(
            f"{file} has {size} bytes; deltas are made of files up to {MAX_BYTES}",
            "fetch the whole pack",
        )
    return file.read_bytes()


def _options(before: bytes, after: bytes) -> dict[int, int]:
    parameter = zstd.CompressionParameter
    return {
        parameter.compression_level: _LEVEL,
        # Wide enough to reach from the new file's end to the old one's beginning.
        parameter.window_log: min(31, max(10, (len(before) + len(after)).bit_length())),
        parameter.enable_long_distance_matching: 1,
    }


def _prefix(before: bytes) -> tuple[zstd.ZstdDict, int]:
    # A dictionary has at least 8 bytes.
    return zstd.ZstdDict(before.ljust(8, b"\0"), is_raw=True).as_prefix
