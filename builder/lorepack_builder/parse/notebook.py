"""Jupyter notebooks (nbformat 3 and 4) → Markdown: cells in order, outputs as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lorepack.util.untrusted import dicts, tables
from lorepack_builder.parse.markdown.fence import fenced

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MAX_OUTPUT = 4_000
_TEXT_FORMS = ("text/markdown", "text/plain")


def notebook_markdown(text: str) -> str:
    """Return a notebook as Markdown; pictures are named, not kept.

    Raises:
        ValueError: it is no notebook.
    """
    data = json.loads(text)
    if not isinstance(data, dict) or not (dicts(data.get("cells")) or "nbformat" in data):
        raise ValueError("is no notebook")
    metadata = tables(data.get("metadata"))
    language = _language(metadata)
    cells = dicts(data.get("cells"))
    for sheet in dicts(data.get("worksheets")):
        cells += dicts(sheet.get("cells"))
    return "\n\n".join(part for cell in cells for part in _cell(cell, language) if part) + "\n"


def _language(metadata: Any) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        table = metadata.get(key)
        found = table.get(name) if isinstance(table, dict) else None
        if isinstance(found, str) and re.fullmatch(r"[\w+#.-]+", found):
            return found.lower()
    return "python"


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input", ""))).rstrip()
    kind = cell.get("cell_type")
    if kind == "code":
        yield fenced(source, language)
        for output in dicts(cell.get("outputs")):
            yield _output(output)
    elif kind == "heading":
        level = cell.get("level", 1)
        yield f"{'#' * (level if level in range(1, 7) else 1)} {source}"
    elif kind == "raw":
        yield fenced(source, "text")
    else:
        yield source


def _output(output: dict[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return fenced(_shorten(_text(output.get("text"))), "text")
    if kind in ("error", "pyerr"):
        trace = output.get("traceback")
        lines = [str(line) for line in trace] if isinstance(trace, list) else []
        return fenced(_shorten(_ANSI.sub("", "\n".join(lines))), "text")
    data = output.get("data", output)
    if not isinstance(data, dict):
        return ""
    for form in _TEXT_FORMS:
        if form in data:
            shown = _shorten(_text(data[form]))
            return shown if form == "text/markdown" else fenced(shown, "text")
    pictures = [name for name in data if str(name).startswith("image/")]
    return f"*(a picture, {pictures[0]})*" if pictures else ""


def _shorten(text: str) -> str:
    text = _ANSI.sub("", text).rstrip()
    return text if len(text) <= _MAX_OUTPUT else text[:_MAX_OUTPUT] + "\n…"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(part) for part in value)
    return value if isinstance(value, str) else ""
