"""A page of an HTML export."""

from __future__ import annotations

from bs4 import Tag

from lorepack_builder.acquire.notion.page import Note
from lorepack_builder.convert.html import html_tree, markdown_of

_COMMENTS = "[class*=comment], [class*=discussion]"


def html_page(text: str) -> Note:
    """Read title, properties and body; comments are dropped."""
    soup = html_tree(text)
    for comment in soup.select(_COMMENTS):
        comment.decompose()
    title = soup.select_one("h1.page-title") or soup.title
    properties = {}
    for row in soup.select("table.properties tr"):
        name, value = row.find("th"), row.find("td")
        if isinstance(name, Tag) and isinstance(value, Tag):
            properties[name.get_text(" ", strip=True)] = ", ".join(value.stripped_strings)
    body = soup.select_one("div.page-body") or soup.body or soup
    shown = title.get_text(" ", strip=True) if title else ""
    return Note(shown, properties, markdown_of(body))
