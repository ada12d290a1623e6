"""Change one entry of a mapping in a YAML file, and no other line of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml


def parse(text: str) -> dict[str, Any]:
    """Return what the text says. Raises ValueError if it is no mapping."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("it is no mapping")
    return value


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with ``path``, a key and one below it, set to ``value``.

    Raises:
        ValueError: the text is no YAML mapping, or is written so that no line can be added.
    """
    outer, name = path
    data = parse(text)
    if isinstance(data.get(outer), dict) and name in data[outer]:
        if data[outer][name] == value:
            return text
        text = remove(text, path)
        data = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    at = _line_of(lines, outer, 0, len(lines), "")
    if at is None:
        lines.append(f"{outer}:{newline}")
        at = len(lines) - 1
    elif not data.get(outer):
        lines[at] = f"{outer}:{newline}"
    end = _end(lines, at)
    inside = next((line for line in lines[at + 1 : end] if _content(line)), "")
    indent = re.match(r" *", inside)
    written = yaml.safe_dump({name: dict(value)}, sort_keys=False, allow_unicode=True)
    step = " " * (len(indent.group()) if indent and indent.group() else 2)
    block = [f"{step}{line}{newline}" for line in written.splitlines()]
    changed = "".join([*lines[:end], *block, *lines[end:]])
    return _checked(changed, {**data, outer: {**(data.get(outer) or {}), name: dict(value)}})


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without ``path``. Raises ValueError as `put` does."""
    outer, name = path
    data = parse(text)
    if not isinstance(data.get(outer), dict) or name not in data[outer]:
        return text
    lines = text.splitlines(keepends=True)
    at = _line_of(lines, outer, 0, len(lines), "")
    begin = None if at is None else _line_of(lines, name, at + 1, _end(lines, at), r" +")
    if begin is None:
        raise ValueError(f"{outer} is not written line by line")
    left = {key: item for key, item in data[outer].items() if key != name}
    changed = "".join([*lines[:begin], *lines[_end(lines, begin) :]])
    return _checked(changed, {**data, outer: left or None})


def put_item(text: str, key: str, name: str, value: Mapping[str, Any]) -> str:
    """Return the text with the item of the list ``key`` that is called ``name`` set to ``value``.

    Raises:
        ValueError: the text is no YAML mapping, or is written so that no item can be added.
    """
    item = {"name": name, **value}
    if item in (items(text, key)):
        return text
    text = remove_item(text, key, name)
    data, found = parse(text), items(text, key)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    at = _line_of(lines, key, 0, len(lines), "")
    if at is None:
        lines.append(f"{key}:{newline}")
        at = len(lines) - 1
    elif not found:
        lines[at] = f"{key}:{newline}"
    starts = _item_lines(lines, at)
    step = " " * (_depth(lines[starts[0]]) if starts else 2)
    written = yaml.safe_dump([item], sort_keys=False, allow_unicode=True)
    block = [f"{step}{line}{newline}" for line in written.splitlines()]
    end = _list_end(lines, at)
    changed = "".join([*lines[:end], *block, *lines[end:]])
    return _checked(changed, {**data, key: [*found, item]})


def remove_item(text: str, key: str, name: str) -> str:
    """Return the text without an item of a list. Raises ValueError as `put_item` does."""
    data, found = parse(text), items(text, key)
    number = next((n for n, item in enumerate(found) if item.get("name") == name), None)
    if number is None:
        return text
    lines = text.splitlines(keepends=True)
    at = _line_of(lines, key, 0, len(lines), "")
    starts = [] if at is None else _item_lines(lines, at)
    if at is None or len(starts) != len(found):
        raise ValueError(f"{key} is not written line by line")
    ends = [*starts[1:], _list_end(lines, at)]
    changed = "".join([*lines[: starts[number]], *lines[ends[number] :]])
    left = [item for item in found if item.get("name") != name]
    return _checked(changed, {**data, key: left or None})


def items(text: str, key: str) -> list[dict[str, Any]]:
    """Return the items of a list of mappings. Raises ValueError: it is something else."""
    found = parse(text).get(key) or []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError(f"{key} is no list of mappings")
    return found


def _item_lines(lines: Sequence[str], at: int) -> list[int]:
    inside = [n for n in range(at + 1, _list_end(lines, at)) if _content(lines[n])]
    depth = _depth(lines[inside[0]]) if inside else 0
    return [n for n in inside if lines[n].lstrip().startswith("-") and _depth(lines[n]) == depth]


def _list_end(lines: Sequence[str], at: int) -> int:
    """Return the line after a list, whose items may be as far left as its key."""
    depth, last = _depth(lines[at]), at
    for number in range(at + 1, len(lines)):
        line = lines[number]
        if not _content(line):
            continue
        if _depth(line) < depth or (_depth(line) == depth and not line.lstrip().startswith("-")):
            break
        last = number
    return last + 1


def _checked(text: str, expected: Mapping[str, Any]) -> str:
    if parse(text) != expected:
        raise ValueError("it is written in a form that no line can be added to")
    return text


def _line_of(lines: Sequence[str], key: str, begin: int, end: int, indent: str) -> int | None:
    quoted = re.escape(key)
    form = re.compile(rf"{indent}(?:{quoted}|\"{quoted}\"|'{quoted}')\s*:(?:\s|$)")
    return next((at for at in range(begin, end) if form.match(lines[at])), None)


def _end(lines: Sequence[str], at: int) -> int:
    """Return the line after the last one that belongs to the key on line ``at``."""
    depth, last = _depth(lines[at]), at
    for number in range(at + 1, len(lines)):
        if not _content(lines[number]):
            continue
        if _depth(lines[number]) <= depth:
            break
        last = number
    return last + 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
