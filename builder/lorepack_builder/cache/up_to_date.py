"""Know that a build would make the pack that is already there."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from lorepack.errors import LorepackError
from lorepack.models.convert import cache_dir
from lorepack.pack.format import SUFFIX
from lorepack.pack.open import open_pack
from lorepack_builder.cache.code_digest import code_digest
from lorepack_builder.cache.hashes import Hashes
from lorepack_builder.model import Finding, Source, SourceFile
from lorepack_builder.recipe import Recipe

_DIGEST = "SELECT value FROM meta WHERE key = 'content_digest'"


def build_key(
    recipe: Recipe, sources: Sequence[Source], files: Sequence[SourceFile],
    findings: Sequence[Finding], hashes: Hashes, target: Path, options: Sequence[object],
) -> str:  # fmt: skip
    """Return a digest of everything that a pack is made of."""
    others = sorted(
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in target.parent.glob(f"{recipe.name}-*{SUFFIX}")
        if path != target
    )
    facts = [
        code_digest(), list(options), others, os.environ.get("SOURCE_DATE_EPOCH", ""),
        hashlib.sha256(recipe.path.read_bytes()).hexdigest(), _model(recipe.model),
        _taxonomy(recipe),
        [[s.name, s.origin, s.licence, s.lang, s.layout, s.code, s.facts()] for s in sources],
        [astuple(finding) for finding in findings],
        [
            [f.path, hashes[f.path].hex(), [astuple(mention) for mention in f.mentions], f.related]
            for f in files
        ],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def load_build(recipe: Recipe, target: Path, key: str) -> dict[str, Any] | None:
    """Return what the last build said, if it had the same ``key`` and its pack is still there."""
    try:
        known: dict[str, Any] = json.loads(_file(recipe, target).read_bytes())
        if known["key"] != key or known["bytes"] != target.stat().st_size:
            return None
        with closing(open_pack(target)) as pack:
            digest = pack.execute(_DIGEST).fetchone()
    except (OSError, ValueError, KeyError, TypeError, sqlite3.Error, LorepackError):
        return None
    return known if digest and digest[0] == known["summary"]["digest"] else None


def save_build(
    recipe: Recipe, target: Path, key: str, summary: dict[str, object], findings: Sequence[Finding]
) -> None:
    """Remember a build; where that cannot be written, the next one is made anew."""
    data = {
        "key": key,
        "bytes": target.stat().st_size,
        "summary": summary,
        "findings": [astuple(finding) for finding in findings],
    }
    with suppress(OSError):
        file = _file(recipe, target)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data), encoding="utf-8")


def _file(recipe: Recipe, target: Path) -> Path:
    both = f"{recipe.path.absolute()}\0{target.absolute()}".encode("utf-8", "replace")
    return cache_dir() / "builds" / f"{hashlib.sha256(both).hexdigest()[:32]}.json"


def _taxonomy(recipe: Recipe) -> str:
    """A taxonomy may be a file beside the sources."""
    file = recipe.taxonomy_file
    return (
        hashlib.sha256(file.read_bytes()).hexdigest() if recipe.taxonomy and file.is_file() else ""
    )


def _model(name: str) -> list[object]:
    """A model in a folder of the user's may change under its name."""
    folder = Path(name)
    if not folder.is_absolute():
        return [name]
    found = sorted(path for path in folder.iterdir() if path.is_file())
    return [name, *((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in found)]
