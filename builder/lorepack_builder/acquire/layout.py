"""Tell what a folder holds by what lies in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

NOTION_ID = re.compile(r"[ _-]([0-9a-f]{32})(?=(?:_all)?(?:\.[A-Za-z0-9]+)?$)")
_WIKI_FILES = ("module_tree.json", "repowiki-metadata.json")
_LOOKED_AT = 500


def detect_layout(root: Path) -> str:
    """Return ``vault``, ``codewiki``, ``notion`` or, with no sign of these, ``folder``."""
    if (root / ".obsidian").is_dir():
        return "vault"
    if any((root / name).is_file() for name in _WIKI_FILES) or is_repowiki(root):
        return "codewiki"
    names = [path.name for path in islice(_files(root), _LOOKED_AT)]
    if any(NOTION_ID.search(name) for name in names):
        return "notion"
    return "folder"


def is_repowiki(root: Path) -> bool:
    """Say whether ``root`` is a Qoder repowiki of one language, or the folder of all."""
    return (root / "content").is_dir() and (root / "meta").is_dir()


def _files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            yield path
