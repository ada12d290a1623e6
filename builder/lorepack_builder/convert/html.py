"""HTML documents → Markdown of their main content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, ParserRejectedMarkup, Tag
from bs4.element import Comment, Doctype, PageElement
from markdownify import MarkdownConverter

MAX_CHARACTERS = 5_000_000
_MAIN = ("main", "article", "[role=main]", "#content", "#main", ".document", "body")
_AROUND = "script, style, template, noscript, nav, header, footer, aside, form, iframe, [hidden]"
_IN_CONTENT = "script, style, template, noscript, nav, form, iframe, a.headerlink, [hidden]"
_TEMPLATE = re.compile(r"{%-?\s*(?:extends|block|if|for|include|set|import|from|macro)\b|<\?php")
_DECLARATION = re.compile(r"<![^>]*>?")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True)
class HtmlDocument:
    """Markdown of the main content, title, language, and (id, heading's number) of headings."""

    markdown: str
    title: str
    lang: str
    ids: tuple[tuple[str, int], ...]


def read_html(text: str) -> HtmlDocument:
    """Return what a document says, without navigation, scripts and forms.

    Raises:
        ValueError: it is a template for another program, or too large.
    """
    if _TEMPLATE.search(text):
        raise ValueError("is a template, not a document")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"is larger than {MAX_CHARACTERS:,} characters")
    soup = html_tree(text)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    html = soup.find("html")
    lang = str(html.get("lang") or "") if isinstance(html, Tag) else ""
    content = next((found for name in _MAIN if (found := soup.select_one(name))), soup)
    for element in content.select(_AROUND if content.name == "body" else _IN_CONTENT):
        element.decompose()
    headings = [h for h in outermost(content, _HEADINGS) if h.get_text(strip=True)]
    ids = [(id, number) for number, heading in enumerate(headings) for id in _ids(heading)]
    return HtmlDocument(markdown_of(content), title, lang, tuple(ids))


def html_tree(text: str) -> BeautifulSoup:
    """Parse a document; declarations that the parser refuses are dropped, as browsers do."""
    try:
        return BeautifulSoup(text, "html.parser")
    except ParserRejectedMarkup:
        return BeautifulSoup(_DECLARATION.sub("", text), "html.parser")


def outermost(root: Tag, names: Sequence[str]) -> list[Tag]:
    """Return elements of these names that lie in no other one of them, in order."""
    found: list[Tag] = []
    inner: set[int] = set()
    for element in root.find_all(names):
        if isinstance(element, Tag) and id(element) not in inner:
            found.append(element)
            inner.update(map(id, element.find_all(names)))
    return found


def markdown_of(element: Tag) -> str:
    """Return an element as Markdown: headings with ``#``, fences with their language.

    What is nested deeper than Python's stack gives its text alone.
    """
    for other in element.find_all(string=lambda text: isinstance(text, Comment | Doctype)):
        other.extract()
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", escape_misc=True, code_language_callback=_language
    )
    try:
        text = converter.convert_soup(element)
    except RecursionError:
        text = element.get_text("\n", strip=True)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _ids(heading: Tag) -> list[str]:
    """Return the ids by which a heading, or the section that it opens, is linked to."""
    named: list[PageElement | None] = [heading, heading.find_parent(["section", "div"])]
    return [str(e["id"]) for e in named if isinstance(e, Tag) and e.get("id")]


def _language(element: Any) -> str:
    classes: list[str] = []
    for tag in (element, element.find("code"), element.parent, element.parent.parent):
        classes += tag.get("class") or [] if isinstance(tag, Tag) else []
    for name in classes:
        if match := re.fullmatch(r"(?:language|lang|highlight|brush)-([\w+#.-]+)", name):
            return match[1]
    return ""
