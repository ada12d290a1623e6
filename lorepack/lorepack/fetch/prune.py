"""Remove old versions of pulled packs."""

from __future__ import annotations

from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.format import SUFFIX
from lorepack.pack.inspect import inspect_pack
from lorepack.pack.signature import signature_file
from lorepack.versions import Key, version_key


def prune_packs(folder: Path, keep: int, *, dry_run: bool = False) -> list[Path]:
    """Remove all but the newest ``keep`` versions of each pack; return what went, or would.

    What cannot be read as a pack stays.
    """
    versions: dict[str, list[tuple[Key, Path]]] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            meta = inspect_pack(path).meta
        except LorepackError:
            continue
        versions.setdefault(meta["name"], []).append((version_key(meta["version"]), path))
    old = [path for own in versions.values() for _, path in sorted(own)[: -keep or None]]
    for path in [] if dry_run else old:
        path.unlink(missing_ok=True)
        signature_file(path).unlink(missing_ok=True)
    return sorted(old)
