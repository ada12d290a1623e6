"""Colour groups for Obsidian's graph view, made of what a pack knows."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lorepack.errors import LorepackError

COLOURS = (
    0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xD55E00, 0xF0E442, 0x882255, 0x44AA99,
    0x999933, 0xAA4499, 0x888888,
)  # fmt: skip
"""Told apart by people who see colours differently: Okabe and Ito, then Tol."""

_BY: Mapping[str, tuple[str, str]] = {
    "folder": (
        "SELECT category FROM pages WHERE category <> '' GROUP BY category "
        "ORDER BY count(*) DESC, category",
        'path:"{}/"',
    ),
    "tag": ("SELECT tag FROM tags WHERE pages > 0 ORDER BY pages DESC, tag", "tag:#{}"),
    "lifecycle": (
        "SELECT lifecycle FROM pages WHERE lifecycle <> '' GROUP BY lifecycle ORDER BY 1",
        '["lifecycle":"{}"]',
    ),
    "tool": (
        "SELECT tool FROM pages WHERE tool <> '' GROUP BY tool ORDER BY count(*) DESC, tool",
        '["tool":"{}"]',
    ),
}
"""What groups can be made of: the values, the most used first, and Obsidian's query for one."""
CHOICES = tuple(_BY)


def colour_groups(pack: sqlite3.Connection, by: str) -> list[dict[str, Any]]:
    """Return groups as ``.obsidian/graph.json`` has them, at most as many as there are colours."""
    statement, query = _BY[by]
    values = [row[0] for row in pack.execute(statement)]
    # A quote would end the query's text.
    plain = [value for value in values if '"' not in value]
    return [
        {"query": query.format(value), "color": {"a": 1, "rgb": colour}}
        for value, colour in zip(plain, COLOURS, strict=False)
    ]


def merged(settings: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return settings with groups added; groups that a person made keep their place and colour."""
    own = [group for group in settings.get("colorGroups", []) if isinstance(group, dict)]
    known = {group.get("query") for group in own}
    added = [dict(group) for group in groups if group["query"] not in known]
    return {**settings, "colorGroups": [*own, *added]}


def read_settings(vault: Path) -> dict[str, Any]:
    """Return the graph view's settings of a vault; none if it has none.

    Raises:
        LorepackError: there is no such vault, or the settings are no JSON.
    """
    file = settings_file(vault)
    if not vault.is_dir():
        raise LorepackError(f"{vault} is no folder", "give the folder of an Obsidian vault")
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise LorepackError(f"{file} cannot be read ({error})", "mend or remove it") from error
    if not isinstance(data, dict):
        raise LorepackError(f"{file} is no object", "mend or remove it")
    return data


def write_settings(vault: Path, settings: Mapping[str, Any]) -> None:
    """Write the graph view's settings, at once or not at all; what was there is kept as ``.bak``.

    Raises:
        LorepackError: they cannot be written.
    """
    file = settings_file(vault)
    staged = file.with_suffix(".json.new")
    try:
        file.parent.mkdir(exist_ok=True)
        staged.write_text(json.dumps(settings, indent=2, ensure_ascii=False), encoding="utf-8")
        if file.exists():
            shutil.copy2(file, file.with_suffix(".json.bak"))
        staged.replace(file)
    except OSError as error:
        raise LorepackError(f"{file} cannot be written ({error})", "check its folder") from error


def settings_file(vault: Path) -> Path:
    """Return where Obsidian keeps the graph view's settings."""
    return vault / ".obsidian" / "graph.json"
