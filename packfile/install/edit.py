"""Change one member of a configuration file, and nothing else in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from lorepack.packfile.install import jsonc


@dataclass(frozen=True)
class Edit:
    """The member at ``path`` becomes ``value``; without a value, it goes."""

    path: Sequence[str]
    value: Mapping[str, Any] | None


def edit_json(text: str, edit: Edit) -> str:
    """Return JSON, with comments or without, with one member changed.

    Raises:
        ValueError: the text is no object, or something on the path is none.
    """
    if edit.value is None:
        return jsonc.remove(text, edit.path) if text.strip() else text
    return jsonc.put(text if text.strip() else "{}\n", edit.path, edit.value)


def edit_toml(text: str, edit: Edit) -> str:
    """Return TOML with one table changed. Raises ValueError: it is none, or a table is a value."""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
    *parents, name = edit.path
    table: Any = document
    for key in parents:
        if key not in table:
            if edit.value is None:
                return text
            table[key] = tomlkit.table(is_super_table=True)
        table = table[key]
        if not isinstance(table, (Table, dict)):
            raise ValueError(f"{key} is no table")
    if edit.value is None:
        if name not in table:
            return text
        del table[name]
    elif table.get(name) == edit.value:
        return text
    else:
        table[name] = dict(edit.value)
    return tomlkit.dumps(document)


EDITORS: Mapping[str, Callable[[str, Edit], str]] = {"JSON": edit_json, "TOML": edit_toml}
