"""Fetch a pack as what changed against one that is at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from lorepack.errors import LorepackError
from lorepack.fetch.transfer import Progress, fetch, notes_file
from lorepack.pack.delta import SUFFIX, apply_delta
from lorepack.util.hashing import sha256_of
from lorepack.util.untrusted import items

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Delta:
    """A delta's address, its size in bytes, and the hex SHA-256 of the pack that it is against."""

    url: str
    bytes: int
    old: str


def listed_deltas(entry: Mapping[str, Any], base: str) -> Sequence[Delta]:
    """Return the deltas that an entry of an index of packs lists, the smallest first.

    Args:
        entry: ``{"file", "sha256", "deltas": [{"file", "bytes", "from"}]}``; what is not so is
            left out, as the whole pack does as well.
        base: the address from which files are seen.
    """
    found = []
    for one in items(entry.get("deltas")):
        try:
            delta = Delta(urljoin(base, str(one["file"])), int(one["bytes"]), str(one["from"]))
        except (KeyError, TypeError, ValueError):
            continue
        secure = urlsplit(delta.url).scheme == "https" or not base.startswith("https")
        if secure and _SHA256.fullmatch(delta.old):
            found.append(delta)
    return sorted(found, key=lambda delta: delta.bytes)


def fetch_by_delta(
    deltas: Sequence[Delta], held: Callable[[str], Path | None], target: Path, *,
    headers: Mapping[str, str] | None = None, progress: Progress = lambda *_: None,
) -> str:  # fmt: skip
    """Make ``target`` of a pack at hand and the smallest delta that fits one.

    Args:
        held: returns the file with a hex SHA-256, if it is at hand.

    Returns:
        The hex SHA-256 of ``target``; '' if no delta fits or none could be had, and nothing
        is at ``target`` then.
    """
    for delta in deltas:
        old = held(delta.old)
        if old is None:
            continue
        staged = target.with_name(f".{sha256_of(delta.url.encode())[:24]}{SUFFIX}")
        try:
            fetch(delta.url, staged, headers, progress)
            return apply_delta(old, staged, target)
        except LorepackError:
            continue
        finally:
            staged.unlink(missing_ok=True)
            notes_file(staged).unlink(missing_ok=True)
    return ""
