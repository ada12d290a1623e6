"""Change one member of a configuration file, and nothing else in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
import yaml
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from lorepack.clients import jsonc, yaml_text


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


def edit_yaml(text: str, edit: Edit) -> str:
    """Return YAML with one entry of a mapping changed. Raises ValueError: it cannot be."""
    if edit.value is None:
        return yaml_text.remove(text, edit.path)
    return yaml_text.put(text, edit.path, edit.value)


def edit_yaml_list(text: str, edit: Edit) -> str:
    """Return YAML with one item of a list changed. Raises ValueError: it cannot be."""
    key, name = edit.path
    if edit.value is None:
        return yaml_text.remove_item(text, key, name)
    return yaml_text.put_item(text, key, name, edit.value)


def edit_own(text: str, edit: Edit) -> str:
    """Return a file that holds one server alone; '' without one."""
    if edit.value is None:
        return "" if edit.path[-1] in own_servers(text) else text
    servers = [{"name": edit.path[-1], **edit.value}]
    data = {"name": edit.path[-1], "version": "0.0.1", "schema": "v1", "mcpServers": servers}
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


def own_servers(text: str) -> dict[str, Any]:
    """Return the servers of a file of `edit_own` by name. Raises ValueError: it is no YAML."""
    servers = yaml_text.parse(text).get("mcpServers")
    return _by_name(servers if isinstance(servers, list) else [])


def _by_name(servers: Sequence[Any]) -> dict[str, Any]:
    named = [dict(server) for server in servers if isinstance(server, dict)]
    return {server.pop("name"): server for server in named if "name" in server}


def read_servers(text: str, form: str, path: Sequence[str]) -> dict[str, Any]:
    """Return the servers of a configuration by name, as they are ordered in it; {} for none.

    Raises:
        ValueError: the text is not of its form.
    """
    if form == "own YAML":
        return own_servers(text)
    if form == "YAML list":
        return _by_name(yaml_text.items(text, path[0]))
    if not text.strip():
        return {}
    parse = {"JSON": jsonc.parse, "TOML": _toml, "YAML": yaml_text.parse}[form]
    value: Any = parse(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return dict(value) if isinstance(value, dict) else {}


def _toml(text: str) -> Any:
    return tomlkit.parse(text).unwrap()


EDITORS: Mapping[str, Callable[[str, Edit], str]] = {
    "JSON": edit_json, "TOML": edit_toml, "YAML": edit_yaml, "YAML list": edit_yaml_list,
    "own YAML": edit_own,
}  # fmt: skip
