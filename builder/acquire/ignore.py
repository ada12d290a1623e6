"""What a source wants left out: patterns of the recipe, and the vault's own filters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from pathspec import PathSpec

from lorepack.builder.recipe import SourceSpec


def ignore_rules(spec: SourceSpec) -> Callable[[str], bool]:
    """Return a test for paths below the source's root; folders end with a slash."""
    patterns = PathSpec.from_lines("gitignore", spec.exclude)
    filters = _vault_filters(spec.path) if spec.kind == "vault" else []

    def ignored(path: str) -> bool:
        return patterns.match_file(path) or any(matches(path) for matches in filters)

    return ignored


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
