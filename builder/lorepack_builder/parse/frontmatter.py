"""YAML frontmatter of any shape; what can be read is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

_OPEN = re.compile(r"---[ \t]*(?:\n|$)")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|$)", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<key>[^\s#:'\"\-][^:\n]*?|'[^'\n]+'|\"[^\"\n]+\")\s*:(?:\s|$)")
_MAX_NODES = 20_000
# The base loaders resolve no types: every scalar stays the text that was written.
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

Properties = dict[str, Any]


@dataclass(frozen=True)
class Frontmatter:
    """What stands before a page's body.

    ``values`` hold JSON types only; a number, date or boolean stays the text that was written.
    ``raw`` is the YAML. ``body_line`` is the body's first line in the file, from 1. ``problems``
    are (line, what).
    """

    values: Properties
    raw: str
    body: str
    body_line: int
    problems: tuple[tuple[int, str], ...] = ()


def read_frontmatter(text: str) -> Frontmatter:
    """Split ``text`` into frontmatter and body; never raises."""
    opening = _OPEN.match(text)
    closing = _CLOSE.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter({}, "", text, 1)
    raw = text[opening.end() : closing.start()]
    body_line = text.count("\n", 0, closing.end()) + 1
    if not text[: closing.end()].endswith("\n"):
        body_line += 1
    values, problems = _read_yaml(raw)
    shifted = tuple((line + 2, what) for line, what in problems)
    return Frontmatter(values, raw, text[closing.end() :], body_line, shifted)


def as_list(value: Any) -> list[str]:
    """Return a list property: a YAML list, or text with commas or spaces between items."""
    if isinstance(value, str):
        return [item for part in re.split(r"[,\n]+", value) if (item := part.strip())]
    if isinstance(value, list):
        return [item for entry in value for item in as_text_items(entry)]
    return []


def as_text_items(value: Any) -> list[str]:
    """Return the text of one list entry, as a list of none or one."""
    return [value.strip()] if isinstance(value, str) and value.strip() else []


def as_text(value: Any) -> str:
    """Return a text property; anything but text is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _read_yaml(raw: str) -> tuple[Properties, list[tuple[int, str]]]:
    problems: list[tuple[int, str]] = []
    try:
        values = _compose(raw, 0, problems)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error)
        problems.append((mark.line if mark else 0, f"is not valid YAML ({what})"))
        return _read_entries(raw, problems), problems
    if isinstance(values, dict):
        return values, problems
    if values not in (None, ""):
        problems.append((0, "is not a list of properties"))
    return {}, problems


def _compose(raw: str, first_line: int, problems: list[tuple[int, str]]) -> Any:
    # `yaml.compose` builds nodes only: no tag constructs anything, and scalars stay as written.
    node = yaml.compose(raw, Loader=_Loader)
    budget = [_MAX_NODES]
    return None if node is None else _plain(node, raw, first_line, budget, problems)


def _plain(
    node: yaml.Node, raw: str, line: int, budget: list[int], problems: list[tuple[int, str]]
) -> Any:
    """Turn nodes into JSON types. An alias that repeats its anchor too often is an error."""
    budget[0] -= 1
    if budget[0] < 0:
        raise yaml.YAMLError("its anchors expand to more than 20,000 values")
    if isinstance(node, yaml.ScalarNode):
        return None if node.style is None and node.value in _NULLS else str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, raw, line, budget, problems) for item in node.value]
    values: Properties = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            # `{{title}}` of a template: a mapping as a key. Keep what was written.
            return raw[node.start_mark.index : node.end_mark.index]
        key = str(key_node.value)
        if key in values:
            problems.append((line + key_node.start_mark.line, f"has the key {key!r} twice"))
        values[key] = _plain(value_node, raw, line, budget, problems)
    return values


def _read_entries(raw: str, problems: list[tuple[int, str]]) -> Properties:
    """Read each top-level entry alone, so that a bad one does not take the others with it."""
    values: Properties = {}
    for line, key, entry in _entries(raw):
        try:
            value = _compose(entry.replace("\t", "  "), line, problems)
        except (yaml.YAMLError, RecursionError):
            value = None
        if isinstance(value, dict) and len(value) == 1:
            values.update(value)
        else:
            values[key] = entry.partition(":")[2].strip()[:1000]
    return values


def _entries(raw: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, key, text) of each unindented ``key:`` with the lines that belong to it."""
    lines = raw.split("\n")
    found = [(i, match) for i, line in enumerate(lines) if (match := _ENTRY.match(line))]
    ends = [start for start, _ in found[1:]] + [len(lines)]
    for (start, match), end in zip(found, ends if found else [], strict=True):
        yield start, match.group("key").strip("'\""), "\n".join(lines[start:end])
