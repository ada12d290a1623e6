"""Explicit markup: directives of docutils and Sphinx, targets, footnotes, comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lorepack_builder.parse.rst.inline import code, convert_inline
from lorepack_builder.parse.rst.lines import dedent, fence, indented_end, next_text
from lorepack_builder.parse.rst.state import State
from lorepack_builder.parse.rst.tables import csv_rows, list_rows, markdown_rows

Convert = Callable[[Sequence[str], State, int], list[str]]

_DIRECTIVE = re.compile(r"\.\. (?:\|([^|]+)\| )?([A-Za-z][\w:.+-]*)::(?:\s+(.*))?$")
_FOOTNOTE = re.compile(r"\.\. \[(\d+|#[\w-]*|\*)\]\s*(.*)$")
_OPTION = re.compile(r"\s+:([\w-]+):(?:\s+(.*))?$")
_TITLED = re.compile(r"(.*?)\s*<([^<>]+)>$")

_CALLOUTS = frozenset(
    {"note", "warning", "tip", "important", "hint", "caution", "danger", "attention", "error",
     "seealso", "todo", "admonition", "topic", "sidebar"}
)  # fmt: skip
_VERSIONS = {
    "versionadded": "New in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "versionremoved": "Removed in version",
}  # fmt: skip
_CODE = {
    "code": "", "code-block": "", "sourcecode": "", "parsed-literal": "text", "testcode": "python",
    "testoutput": "text", "doctest": "pycon", "ipython": "python", "prompt": "console",
    "mermaid": "mermaid", "graphviz": "dot", "digraph": "dot", "literal": "text",
}  # fmt: skip
_SILENT = frozenset(
    {"contents", "currentmodule", "default-role", "highlight", "index", "meta", "module", "raw",
     "replace", "role", "sectnum", "tabularcolumns", "target-notes", "title"}
)  # fmt: skip
_OBJECTS = frozenset(
    {"function", "data", "method", "attribute", "exception", "decorator", "staticmethod",
     "classmethod", "property", "option", "program", "envvar", "confval", "describe", "object",
     "setting", "cmdoption", "var", "macro", "type", "member", "struct", "enum", "automodule",
     "autoclass", "autofunction", "autoexception", "automethod", "autoattribute", "autodata",
     "autodecorator", "autoproperty"}
)  # fmt: skip
_IMAGES = frozenset({"image", "figure"})
_QUOTES = frozenset({"epigraph", "pull-quote", "highlights", "compound"})


def convert_explicit(
    lines: Sequence[str], at: int, out: list[str], state: State, depth: int, convert: Convert
) -> int:
    """Convert what ``..`` begins at line ``at``; return the line after it."""
    end = max(at + 1, indented_end(lines, at + 1))
    line = lines[at].rstrip()
    if match := _DIRECTIVE.match(line):
        if match[1] is None:
            _directive(match[2].lower(), match[3] or "", lines, at, end, out, state, depth, convert)
    elif match := _FOOTNOTE.match(line):
        name = match[1].strip("#*") or "auto"
        out[at] = f"[^{name}]: {convert_inline(match[2], state.names)}"
        _place(_inner(lines, at + 1, end, state, depth, convert), at + 1, out, "    ")
    return end


def _directive(
    name: str, argument: str, lines: Sequence[str], at: int, end: int, out: list[str],
    state: State, depth: int, convert: Convert,
) -> None:  # fmt: skip
    options, start = _options(lines, at + 1, end)
    kind = name.rpartition(":")[2]
    if kind in _SILENT or _literal(kind, argument, lines, at, start, end, out):
        return
    if kind in ("list-table", "csv-table"):
        _table(kind, options, lines, at, start, end, out, state)
    elif kind in _CALLOUTS or kind in _VERSIONS or kind in _QUOTES:
        _callout(kind, argument, lines, at, start, end, out, state, depth, convert)
    else:
        out[at] = _head(kind, argument.strip(), options, state)
        _place(_inner(lines, start, end, state, depth, convert), start, out, "")


def _literal(
    kind: str, argument: str, lines: Sequence[str], at: int, start: int, end: int, out: list[str]
) -> bool:
    """Convert a directive whose content is no reStructuredText; say whether it was one."""
    if kind in _CODE:
        language = (_CODE[kind] or argument.strip() or "text").split()[0]
        content = next_text(lines, start)
        if content < end:
            fence(lines, content, end, out, language, before=content - 1)
    elif kind == "math":
        _math(argument, lines, at, start, end, out)
    elif kind == "toctree":
        out[start:end] = [_toctree_entry(line.strip()) for line in lines[start:end]]
    else:
        return False
    return True


def _head(kind: str, argument: str, options: dict[str, str], state: State) -> str:
    """Return what stands for a directive's own line; its content follows as it is."""
    if kind in _IMAGES:
        return f"![{options.get('alt', '')}]({argument})"
    if kind in ("include", "literalinclude"):
        return f"[{argument}]({argument})"
    if kind in _OBJECTS or (kind == "class" and argument[:1].isupper()):
        return _object(kind, argument, state)
    if kind in ("class", "rst-class"):
        return ""
    shown = convert_inline(argument, state.names)
    return f"**{shown}**" if kind == "rubric" and shown else shown


def _table(
    kind: str, options: dict[str, str], lines: Sequence[str], at: int, start: int, end: int,
    out: list[str], state: State,
) -> None:  # fmt: skip
    if kind == "list-table":
        rows = list_rows(lines[start:end], has_head=options.get("header-rows", "0") != "0")
    else:
        content = [line.strip() for line in lines[start:end] if line.strip()]
        rows = csv_rows(content, options.get("header", ""))
    shown = markdown_rows([[convert_inline(cell, state.names) for cell in row] for row in rows])
    shown = shown[: end - at - 1]
    out[at + 1 : at + 1 + len(shown)] = shown


def _callout(
    kind: str, argument: str, lines: Sequence[str], at: int, start: int, end: int,
    out: list[str], state: State, depth: int, convert: Convert,
) -> None:  # fmt: skip
    if kind in _QUOTES:
        out[at] = f"> {convert_inline(argument, state.names)}".rstrip()
    elif kind in _VERSIONS:
        said = argument.replace("|version|", "").strip()
        out[at] = f"> [!info] {_VERSIONS[kind]} {convert_inline(said, state.names)}"
    else:
        shown = "note" if kind in ("admonition", "topic", "sidebar", "seealso") else kind
        title = "See also" if kind == "seealso" and not argument else argument
        out[at] = f"> [!{shown}] {convert_inline(title, state.names)}".rstrip()
    inner = _inner(lines, start, end, state, depth, convert)
    # The lines between belong to the quote, or it would end there.
    out[at + 1 : start] = [">"] * (start - at - 1)
    _place(inner, start, out, "> ")


def _object(kind: str, argument: str, state: State) -> str:
    """A description of something in code is found like a section, so it becomes one."""
    if not argument:
        return ""
    if kind.startswith("auto"):
        return f"{kind.removeprefix('auto')} {code(argument)}"
    return f"{'#' * min(6, state.level + 1)} {code(argument)}"


def _math(
    argument: str, lines: Sequence[str], at: int, start: int, end: int, out: list[str]
) -> None:
    if argument:
        out[at] = f"$$ {argument} $$"
        return
    out[at] = "$$"
    content = [text or "\\," for text in dedent(lines[start:end])]
    out[at + 1 : start] = ["\\,"] * (start - at - 1)
    out[start:end] = content
    if end < len(out):
        out[end] = "$$"
    else:
        out[end - 1] += " $$"


def _toctree_entry(text: str) -> str:
    if not text or text.startswith(":"):
        return ""
    match = _TITLED.match(text)
    title, target = (match[1], match[2]) if match else (text.rpartition("/")[2], text)
    return "" if "*" in target or target == "self" else f"- [{title}]({target})"


def _options(lines: Sequence[str], start: int, end: int) -> tuple[dict[str, str], int]:
    """Return a directive's options, and where its content begins."""
    options: dict[str, str] = {}
    at = start
    while at < end and (match := _OPTION.match(lines[at])):
        options[match[1]] = (match[2] or "").strip()
        at += 1
    return options, at


def _inner(
    lines: Sequence[str], start: int, end: int, state: State, depth: int, convert: Convert
) -> list[str]:
    return convert(dedent(lines[start:end]), state, depth + 1)


def _place(inner: Sequence[str], start: int, out: list[Any], prefix: str) -> None:
    """Write converted lines, each after ``prefix``; quotes stay closed at their end."""
    last = max((number for number, text in enumerate(inner) if text), default=-1)
    for number, text in enumerate(inner):
        out[start + number] = f"{prefix}{text}".rstrip() if number <= last else ""
