"""The running text of a page: what is left when code, headings, links and tags are taken out."""

from __future__ import annotations

import re

from lorepack_builder.model import Page

HIDDEN = "\0"
"""Stands for each character that is no running text; no name holds it."""

_SKIPPED = frozenset({"fence", "code_block", "html_block", "math_block", "heading", "hr"})
_INLINE = re.compile(
    # Code in lists and quotes.
    r"^[ \t>]*(?:[-*+] |\d+[.)] )?[ \t]*(?P<fence>`{3,}|~{3,}).*?(?:^[ \t>]*(?P=fence)|\Z)"
    r"|^[ \t>]*#{1,6} [^\n]*$|^ {0,3}\|?[-|: ]+\|?$"  # headings in them, rules of tables
    r"|(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)"
    r"|!?\[\[[^\]\n]*\]\]|!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\](?:\([^)\n]*\)|\[[^\]\n]*\])"
    r"|^[ \t]*\[[^\]\n]+\]:[^\n]*$|\w+://[^\s)>\]]+|<[^>\n]+>|\$[^$\n]+\$|(?<!\w)#[\w/-]+"
    r"|\[![\w-]+\]|\[\^[^\]\n]*\]|(?<!\S)\^[\w-]+$",
    re.MULTILINE | re.DOTALL,
)


def running_text(page: Page) -> str:
    """Return a page's Markdown, each character that is no running text replaced by `HIDDEN`.

    The length and the lines stay as they are.
    """
    lines = page.body.split("\n")
    for block in page.blocks:
        if block.kind in _SKIPPED:
            for number in range(block.first_line, block.last_line + 1):
                index = number - page.body_line
                if 0 <= index < len(lines):
                    lines[index] = HIDDEN * len(lines[index])
    return _INLINE.sub(_blank, "\n".join(lines))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", HIDDEN, match.group())
