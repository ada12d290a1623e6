"""What a source wants left out: patterns of the recipe, the vault's own filters, .gitignore."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from pathspec import GitIgnoreSpec, PathSpec

from lorepack_builder.recipe import SourceSpec

_MAX_IGNORE_FILE = 2**20


def ignore_rules(spec: SourceSpec) -> Callable[[str], bool]:
    """Return a test for paths below the source's root; folders end with a slash."""
    patterns = PathSpec.from_lines("gitignore", spec.exclude)
    wanted = PathSpec.from_lines("gitignore", spec.include) if spec.include else None
    is_vault = "vault" in (spec.kind, spec.holds)
    filters = _vault_filters(spec.path) if is_vault else []

    def ignored(path: str) -> bool:
        if wanted and not path.endswith("/") and not wanted.match_file(path):
            return True
        return patterns.match_file(path) or any(matches(path) for matches in filters)

    return ignored


def read_gitignore(folder: Path) -> GitIgnoreSpec | None:
    """Return the patterns of a folder's ``.gitignore``, if it has one."""
    file = folder / ".gitignore"
    try:
        if file.is_symlink() or file.stat().st_size > _MAX_IGNORE_FILE:
            return None
        return GitIgnoreSpec.from_lines(file.read_text("utf-8", "replace").splitlines())
    except (OSError, ValueError):
        return None


def _vault_filters(root: Path) -> list[Callable[[str], bool]]:
    """Read ``userIgnoreFilters``: path beginnings, or ``/regular expressions/``."""
    try:
        settings = json.loads((root / ".obsidian" / "app.json").read_bytes())
        given = settings.get("userIgnoreFilters") or []
    except (OSError, ValueError, AttributeError):
        return []
    texts = given if isinstance(given, list) else []
    return [_filter(text) for text in texts if isinstance(text, str) and text]


def _filter(text: str) -> Callable[[str], bool]:
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            expression = re.compile(text[1:-1], re.IGNORECASE)
        except re.error:
            return lambda path: False
        return lambda path: expression.search(path) is not None
    beginning = text.casefold()
    return lambda path: path.casefold().startswith(beginning)
