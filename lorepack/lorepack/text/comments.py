"""Take ``%%comments%%`` and HTML comments out of a page, keeping its lines.

They are dropped before anything else reads the text, so that nothing in them reaches chunks,
index, vectors or site. In code, fenced, indented or inline, and in math the same signs are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_INDENTED = re.compile(r" {4}|\t")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_SIGN = re.compile(r"`+|%%|<!--")
_HTML_SIGN = re.compile(r"`+|<!--")
_CLOSING = {"%%": "%%", "<!--": "-->"}


@dataclass
class _Code:
    """Which code or math the current line stands in."""

    fence: str = ""
    math: bool = False
    after_blank: bool = True
    in_list: bool = False

    def covers(self, line: str) -> bool:
        """Take note of the next line; return whether signs on it are code."""
        if self.fence:
            closing = line.strip(" \t>")
            if closing.startswith(self.fence) and not closing.strip(self.fence[0]):
                self.fence = ""
            return True
        opening = _FENCE.match(line)
        if opening and not self.math:
            self.fence = opening.group(1)
            return True
        if line.count("$$") % 2:
            self.math = not self.math
            return True
        return self.math or self._indented(line)

    def _indented(self, line: str) -> bool:
        blank = not line.strip()
        indented = bool(_INDENTED.match(line))
        if _LIST_ITEM.match(line) and not (indented and self.after_blank and not self.in_list):
            self.in_list = True
        elif not blank and not indented and self.after_blank:
            self.in_list = False
        code = indented and self.after_blank and not self.in_list
        # A code block goes on over its own lines; a paragraph's continuation is no code.
        self.after_blank = blank or code
        return code


def strip_comments(text: str, *, percent: bool = True) -> tuple[str, int | None]:
    """Return the text without comments, and the line (from 0) of one that never closes.

    One that begins a line and never closes reaches to the end, as in Obsidian; elsewhere it must
    close within its paragraph, or its sign is text.

    Args:
        percent: whether ``%%`` is a sign of comments, as only Obsidian has it.
    """
    if not (percent and "%%" in text) and "<!--" not in text:
        return text, None
    sign = _SIGN if percent else _HTML_SIGN
    lines = text.split("\n")
    code, awaited, unclosed = _Code(), "", None
    for number, line in enumerate(lines):
        if not awaited and code.covers(line):
            continue
        kept, awaited = _strip_line(lines, number, awaited, sign)
        if awaited and unclosed is None and not _closes(lines, number, awaited, whole_text=True):
            unclosed = number
        lines[number] = kept
    return "\n".join(lines), unclosed if awaited else None


def _strip_line(
    lines: list[str], number: int, awaited: str, signs: re.Pattern[str]
) -> tuple[str, str]:
    """Return what is left of one line, and the sign that closes a comment still open at its end."""
    line, position = lines[number], 0
    kept: list[str] = []
    while position < len(line):
        if awaited:
            end = line.find(awaited, position)
            if end < 0:
                return "".join(kept), awaited
            position, awaited = end + len(awaited), ""
            continue
        match = signs.search(line, position)
        if match is None:
            break
        kept.append(line[position : match.start()])
        position = match.end()
        sign = match.group()
        if sign.startswith("`"):
            end = _code_end(line, position, sign)
            kept.append(line[match.start() : end])
            position = end
        elif _begins_comment(lines, number, match):
            awaited = _CLOSING[sign]
        else:
            kept.append(sign)
    return "".join(kept) + line[position:], awaited


def _code_end(line: str, position: int, ticks: str) -> int:
    closing = re.compile(rf"(?<!`){ticks}(?!`)").search(line, position)
    return closing.end() if closing else position


def _begins_comment(lines: list[str], number: int, match: re.Match[str]) -> bool:
    line, closing = lines[number], _CLOSING[match.group()]
    if not line[: match.start()].strip(" \t>") or closing in line[match.end() :]:
        return True
    return _closes(lines, number, closing, whole_text=False)


def _closes(lines: list[str], number: int, closing: str, *, whole_text: bool) -> bool:
    for line in lines[number + 1 :]:
        if closing in line:
            return True
        if not whole_text and not line.strip():
            return False
    return False
