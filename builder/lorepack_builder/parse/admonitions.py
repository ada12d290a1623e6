"""Python-Markdown's admonitions (``!!! note "Title"``) → callouts, line by line."""

from __future__ import annotations

import re

_OPENING = re.compile(r"( *)(!!!|\?\?\?\+?) ([\w-]+)(?: +[\w-]+)*(?: +\"(.*)\")?\s*$")
_FOLD = {"!!!": "", "???": "-", "???+": "+"}
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def convert_admonitions(text: str) -> str:
    """Return ``text`` with its admonitions as Obsidian writes them; lines stay where they are."""
    if "!!!" not in text and "???" not in text:
        return text
    lines = text.split("\n")
    fence = ""
    at = 0
    while at < len(lines):
        marks = _FENCE.match(lines[at])
        if marks:
            if not fence:
                fence = marks[1]
            elif lines[at].strip().startswith(fence):
                fence = ""
        match = _OPENING.match(lines[at]) if not fence else None
        at = _convert(lines, at, match) if match else at + 1
    return "\n".join(lines)


def _convert(lines: list[str], at: int, match: re.Match[str]) -> int:
    """Convert the admonition at line ``at``; return the line after it."""
    indent, sign, kind, title = match.groups()
    lines[at] = f"{indent}> [!{kind}]{_FOLD[sign]} {title or ''}".rstrip()
    inner = indent + "    "
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(inner)):
        end += 1
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    body = [line[len(inner) :] for line in lines[at + 1 : end]]
    converted = convert_admonitions("\n".join(body)).split("\n") if body else []
    for number, line in enumerate(converted, at + 1):
        lines[number] = f"{indent}> {line}".rstrip()
    return end
