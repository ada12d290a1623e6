"""A table row may hold ``[[Note|alias]]`` with a bare pipe, as authors write it."""

from __future__ import annotations

import re

from markdown_it.rules_block import StateBlock, table

_ALIAS_PIPE = re.compile(r"(\[\[[^\[\]|\n]+)\|([^\[\]|\n]+\]\])")
# A private character of the same width keeps every offset into the source as it is.
_STAND_IN = "\ue000"


def table_rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Block rule: markdown-it's table, in which the pipe of an alias splits no cell."""
    source = state.src
    if silent or not _has_links(state) or not _has_delimiters(state, start_line + 1, end_line):
        return table(state, start_line, end_line, silent)
    begin, end = state.bMarks[start_line], _table_end(state, start_line, end_line)
    region = source[begin:end]
    state.src = source[:begin] + _ALIAS_PIPE.sub(rf"\1{_STAND_IN}\2", region) + source[end:]
    before = len(state.tokens)
    try:
        found = table(state, start_line, end_line, silent)
    finally:
        state.src = source
    for token in state.tokens[before:]:
        token.content = token.content.replace(_STAND_IN, "|")
    return found


def _has_links(state: StateBlock) -> bool:
    """Say whether the document has wikilinks; it is looked through once, not for each line."""
    if "has_wikilinks" not in state.env:
        state.env["has_wikilinks"] = "[[" in state.src
    return bool(state.env["has_wikilinks"])


def _has_delimiters(state: StateBlock, line: int, end_line: int) -> bool:
    """Say whether ``line`` may be the row of dashes below a table's head."""
    position = state.bMarks[line] + state.tShift[line] if line < end_line else len(state.src)
    return state.src[position : position + 1] in ("|", "-", ":")


def _table_end(state: StateBlock, start_line: int, end_line: int) -> int:
    line = start_line
    while line < end_line and not state.isEmpty(line):
        line += 1
    return state.eMarks[max(start_line, line - 1)]
