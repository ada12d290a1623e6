"""The blocks of reStructuredText: sections, lists, quotes, literal blocks, tables, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorepack_builder.parse.rst.directives import convert_explicit
from lorepack_builder.parse.rst.inline import convert_inline
from lorepack_builder.parse.rst.lines import dedent, fence, indented_end, next_text
from lorepack_builder.parse.rst.state import ADORNMENT, State, is_underline
from lorepack_builder.parse.rst.tables import (
    grid_rows,
    is_grid,
    is_simple,
    markdown_rows,
    simple_rows,
    simple_table_end,
)

_MAX_DEPTH = 20
_BULLET = re.compile(r"([-*+•‣])( +)(?=\S)")
_NUMBER = re.compile(r"(?:\(?(\d{1,9}|#|[a-zA-Z]|[ivxIVX]{1,6})[.)])( +)(?=\S)")
_FIELD = re.compile(r":(?![: ])((?:\\.|[^:\\\n]){1,80}):(?: +|$)(.*)")
_DOCTEST = ">>> "
_LINE_BLOCK = re.compile(r"\|(?: (.*))?$")
_DOCUMENT_FIELDS = frozenset({"orphan", "tocdepth", "nocomments", "nosearch", "hide-toc"})


def convert_blocks(lines: Sequence[str], state: State, depth: int) -> list[str]:
    """Return as many lines of Markdown as ``lines``, which begin in the first column."""
    if depth > _MAX_DEPTH:
        return list(lines)
    out = [""] * len(lines)
    at = 0
    while at < len(lines):
        at = _block(lines, at, out, state, depth)
    return out


def _block(lines: Sequence[str], at: int, out: list[str], state: State, depth: int) -> int:
    """Convert the block that begins at line ``at``; return the line after it."""
    line = lines[at]
    if not line.strip():
        return at + 1
    if line.startswith(".. ") or line.rstrip() in ("..", "__") or line.startswith("__ "):
        return convert_explicit(lines, at, out, state, depth, convert_blocks)
    if line[0] == " ":
        return _quote(lines, at, out, state, depth)
    if depth == 0 and (end := _heading(lines, at, out, state)):
        return end
    if is_grid(line):
        end = _run(lines, at, lambda text: text.startswith(("+", "|")))
        return _table(grid_rows(lines[at:end]), at, end, out, state)
    if is_simple(line):
        end = simple_table_end(lines, at)
        return _table(simple_rows(lines[at:end]), at, end, out, state)
    if line.startswith(_DOCTEST):
        return fence(lines, at, _run(lines, at, str.strip), out, "pycon", before=at - 1)
    if _LINE_BLOCK.fullmatch(line):
        end = _run(lines, at, lambda text: text.startswith(("|", " ")) and bool(text.strip()))
        for number in range(at, end):
            out[number] = convert_inline(lines[number].lstrip("| "), state.names) + "\\"
        return end
    if match := _BULLET.match(line) or _NUMBER.match(line):
        return _item(lines, at, out, state, depth, match)
    if match := _FIELD.fullmatch(line):
        return _field(lines, at, out, state, depth, match)
    return _paragraph(lines, at, out, state, depth)


def _heading(lines: Sequence[str], at: int, out: list[str], state: State) -> int:
    """Convert a title with its lines; return 0 if there is none at ``at``."""
    line = lines[at]
    if at + 1 < len(lines) and is_underline(lines[at + 1], line):
        level = state.heading_level(lines[at + 1][0])
        out[at] = f"{'#' * level} {convert_inline(line.strip(), state.names)}"
        return at + 2
    if ADORNMENT.fullmatch(line) and len(line.rstrip()) >= 3:
        title = lines[at + 1] if at + 2 < len(lines) else ""
        if title.strip() and lines[at + 2].rstrip() == line.rstrip():
            level = state.heading_level(line[0] * 2)
            out[at + 1] = f"{'#' * level} {convert_inline(title.strip(), state.names)}"
            return at + 3
        if len(line.rstrip()) >= 4:
            out[at] = "* * *"
            return at + 1
    return 0


def _paragraph(lines: Sequence[str], at: int, out: list[str], state: State, depth: int) -> int:
    end = _run(lines, at, lambda text: bool(text.strip()) and text[0] != " ")
    following = lines[end] if end < len(lines) else ""
    if end == at + 1 and following.startswith(" ") and following.strip():
        return _definition(lines, at, out, state, depth)
    text = "\n".join(lines[at:end])
    literal = text.endswith("::")
    if literal:
        text = "" if text == "::" else text[:-1] if not text.endswith(" ::") else text[:-3]
    for number, converted in enumerate(convert_inline(text, state.names).split("\n")):
        out[at + number] = converted
    start = next_text(lines, end)
    if literal and start < len(lines) and lines[start][0] == " ":
        return fence(lines, start, indented_end(lines, start), out, "", before=start - 1)
    if literal and start < len(lines) and lines[start][0] in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~":
        # A quoted literal block: every line begins with the same sign.
        sign = lines[start][0]
        quoted = _run(lines, start, lambda text: text.startswith(sign))
        return fence(lines, start, quoted, out, "", before=start - 1)
    return end


def _definition(lines: Sequence[str], at: int, out: list[str], state: State, depth: int) -> int:
    """A term and what it means become an item of a list."""
    end = indented_end(lines, at + 1)
    term = convert_inline(lines[at].rstrip(), state.names)
    out[at] = f"- {term}" if term.startswith(("`", "**")) else f"- **{term}**"
    inner = convert_blocks(dedent(lines[at + 1 : end]), state, depth + 1)
    out[at + 1 : end] = [f"  {text}".rstrip() for text in inner]
    return end


def _quote(lines: Sequence[str], at: int, out: list[str], state: State, depth: int) -> int:
    end = indented_end(lines, at)
    inner = convert_blocks(dedent(lines[at:end]), state, depth + 1)
    last = max((n for n, text in enumerate(inner) if text), default=-1)
    out[at:end] = [f"> {t}".rstrip() if n <= last else "" for n, t in enumerate(inner)]
    return end


def _item(
    lines: Sequence[str], at: int, out: list[str], state: State, depth: int, match: re.Match[str]
) -> int:
    """Convert an item of a list; what it holds is converted by itself."""
    width = match.end()
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * width)):
        end += 1
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    if end == at + 1 and end < len(lines) and lines[end].strip() and lines[end][0] != " ":
        following = _BULLET.match(lines[end]) or _NUMBER.match(lines[end])
        if not following:
            # A sentence that begins like an item: ``A. Smith`` on two lines.
            return _paragraph(lines, at, out, state, depth)
    content = [lines[at][width:], *(line[width:] for line in lines[at + 1 : end])]
    inner = convert_blocks(content, state, depth + 1)
    is_bullet = match.re is _BULLET
    digits = "" if is_bullet else match[1]
    marker = "-" if is_bullet else f"{digits if digits.isdigit() else 1}."
    pad = " " * (len(marker) + 1)
    out[at] = f"{marker} {inner[0]}"
    out[at + 1 : end] = [f"{pad}{text}".rstrip() for text in inner[1:]]
    return end


def _field(
    lines: Sequence[str], at: int, out: list[str], state: State, depth: int, match: re.Match[str]
) -> int:
    end = (
        indented_end(lines, at + 1) if at + 1 < len(lines) and lines[at + 1][:1] == " " else at + 1
    )
    if match[1].lower() in _DOCUMENT_FIELDS:
        return end
    out[at] = f"- **{match[1]}**: {convert_inline(match[2], state.names)}".rstrip()
    inner = convert_blocks(dedent(lines[at + 1 : end]), state, depth + 1)
    out[at + 1 : end] = [f"  {text}".rstrip() for text in inner]
    return end


def _table(rows: list[list[str]], at: int, end: int, out: list[str], state: State) -> int:
    """Write a table's rows one below the other, as Markdown wants; they fit in its own lines."""
    converted = [[convert_inline(cell, state.names) for cell in row] for row in rows]
    for number, text in enumerate(markdown_rows(converted)[: end - at]):
        out[at + number] = text
    return end


def _run(lines: Sequence[str], at: int, belongs: object) -> int:
    end = at
    while end < len(lines) and belongs(lines[end]):  # type: ignore[operator]
        end += 1
    return max(end, at + 1)
