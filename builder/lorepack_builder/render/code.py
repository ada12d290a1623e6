"""A page of code: each definition below a heading of its own, with a link to its lines."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from itertools import pairwise

from lorepack.forges import source_url
from lorepack_builder.model import Page

Highlight = Callable[[str, str], str]


def code_page_html(page: Page, highlight: Highlight) -> str:
    """Return the HTML of a file of code.

    Args:
        highlight: makes HTML of (code, language).
    """
    lines = page.body.split("\n")[1:]
    while lines and not lines[-1].strip():
        lines.pop()
    lines = lines[:-1]
    starts = [heading.line for heading in page.headings]
    bounds = [1, *starts, len(lines) + 1]
    texts = ["\n".join(lines[first - 1 : end - 1]).strip("\n") for first, end in pairwise(bounds)]
    blocks = [highlight(f"{text}\n", page.code) if text.strip() else "" for text in texts]
    parts = blocks[:1]
    for heading, symbol, block in zip(page.headings, page.symbols, blocks[1:], strict=True):
        anchor, level = escape(heading.anchor), heading.level
        link = f'<a class="headerlink" href="#{anchor}" title="Permanent link"></a>'
        parts.append(f'<h{level} id="{anchor}">{escape(heading.text)}{link}</h{level}>\n')
        span = (symbol.first_line, symbol.last_line)
        named = f"{symbol.kind}, lines {span[0]} to {span[1]}"
        if url := source_url(page.source.facts(), page.path, span):
            named = f'<a href="{escape(url)}">{named}</a>'
        parts += [f'<p class="lore-lines">{named}</p>\n', block]
    return "".join(parts)
