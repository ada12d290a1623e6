"""A page of an export: its title, the properties that stand below it, and its body."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import yaml

_TITLE = re.compile(r"\A\s*# (.*)(?:\n|\Z)")
_PROPERTY = re.compile(r"([^\n:]{1,100}): ?(.*)")
_DATES = ("%B %d, %Y %I:%M %p", "%B %d, %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_STANDARD = {
    "created": "created", "created time": "created", "date created": "created",
    "status": "lifecycle",
    "last edited": "updated", "last edited time": "updated", "updated": "updated",
}  # fmt: skip


@dataclass(frozen=True)
class Note:
    """A page as exported; ``properties`` are texts by name, in order."""

    title: str
    properties: Mapping[str, str]
    body: str


def read_note(text: str, columns: Collection[str]) -> Note:
    """Split a Markdown page.

    Args:
        columns: the names that its database gives to properties; without one, it has none.
    """
    match = _TITLE.match(text)
    title = match[1].strip() if match else ""
    rest = text[match.end() :] if match else text
    properties: dict[str, str] = {}
    lines = rest.lstrip("\n").split("\n")
    first = 0
    while (
        first < len(lines) and (found := _PROPERTY.fullmatch(lines[first])) and found[1] in columns
    ):
        properties[found[1]] = found[2].strip()
        first += 1
    return Note(title, properties, "\n".join(_with_callouts(lines[first:])))


def front_matter(properties: Mapping[str, str]) -> str:
    """Return properties as YAML between dashes, or nothing.

    Tags and dates also go by the names and forms that the rest of the pack knows.
    """
    values: dict[str, object] = {}
    for name, value in properties.items():
        if not value:
            continue
        values[name] = value
        key = name.casefold()
        if key in ("tags", "tag"):
            values.pop(name)
            values["tags"] = ["-".join(tag.split()) for tag in value.split(",") if tag.strip()]
        elif key in _STANDARD:
            values.setdefault(_STANDARD[key], iso_date(value))
    if not values:
        return ""
    dumped = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{dumped}---\n"


def iso_date(text: str) -> str:
    """Return one of Notion's dates as ISO 8601; any other text as it is."""
    for form in _DATES:
        try:
            found = datetime.strptime(text, form)
        except ValueError:
            continue
        return (
            found.isoformat(timespec="minutes")
            if "%H" in form or "%I" in form
            else (found.date().isoformat())
        )
    return text


def _with_callouts(lines: Sequence[str]) -> list[str]:
    """Return lines with each ``<aside>`` that is closed, and not empty, as a callout."""
    made: list[str] = []
    closings = [number for number, line in enumerate(lines) if line == "</aside>"]
    number = closing = 0
    while number < len(lines):
        while closing < len(closings) and closings[closing] < number + 2:
            closing += 1
        if lines[number] == "<aside>" and closing < len(closings):
            end = closings[closing]
            made += ["> [!note]", *(f"> {line}".rstrip() for line in lines[number + 1 : end])]
            number = end
        else:
            made.append(lines[number])
        number += 1
    return made
