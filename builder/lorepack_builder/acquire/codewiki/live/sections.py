"""The sections of a live wiki → documents: prose, tables, code, diagrams and links in order."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

from lorepack_builder.acquire.codewiki.live.graphviz import graphviz_mermaid
from lorepack_builder.convert.anchors import slugify
from lorepack_builder.convert.html import html_tree, markdown_of, outermost

_HEADINGS = ("h1", "h2", "h3", "h4")
_CHROME = "button, mat-icon, script, style, nav, [aria-hidden=true]"
_SVG = re.compile(r"data:image/svg\+xml(?:;charset=[\w-]+)?(;base64)?,(.*)", re.DOTALL)
_HERE = re.compile(r"(?:https?://[^/]+)?/github\.com/([\w.-]+/[\w.-]+)/?(#.*)?$")


def wiki_documents(sections: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (file name, Markdown) of each section, in order.

    Links between sections lead to the documents that they become.
    """
    soups = [html_tree(html) for html in sections]
    names = _names(soups)
    places = {
        str(heading["id"]): (name, heading.get_text(" ", strip=True))
        for name, soup in zip(names, soups, strict=True)
        for heading in soup.find_all(_HEADINGS)
        if isinstance(heading, Tag) and heading.get("id")
    }
    for name, soup in zip(names, soups, strict=True):
        for element in soup.select(_CHROME):
            element.decompose()
        _draw_diagrams(soup)
        _lead_links(soup, places)
        yield name, markdown_of(soup)


def _names(soups: Sequence[BeautifulSoup]) -> list[str]:
    """Name each section by its first heading; one whose name is taken gets the first words too."""
    names: list[str] = []
    for number, soup in enumerate(soups):
        heading = soup.find(_HEADINGS)
        title = heading.get_text(" ", strip=True) if isinstance(heading, Tag) else ""
        base = slugify(title)[:80] if title else ("overview" if not number else f"part-{number}")
        name, more = f"{base}.md", 1
        while name in names:
            more += 1
            name = f"{base}-{more}.md"
        names.append(name)
    return names


def _draw_diagrams(soup: BeautifulSoup) -> None:
    """Put Mermaid in place of Graphviz' drawings, in data addresses or inline."""
    drawn: list[tuple[Tag, str]] = [
        (image, svg)
        for image in soup.find_all("img")
        if isinstance(image, Tag) and (svg := _embedded_svg(str(image.get("src") or "")))
    ]
    drawn += [(svg, str(svg)) for svg in outermost(soup, ["svg"])]
    for element, svg in drawn:
        mermaid = graphviz_mermaid(svg)
        if not mermaid:
            element.decompose()
            continue
        fence = soup.new_tag("pre")
        code = soup.new_tag("code", attrs={"class": "language-mermaid"})
        code.string = mermaid
        fence.append(code)
        element.replace_with(fence)


def _embedded_svg(address: str) -> str:
    match = _SVG.match(address)
    if match is None:
        return ""
    if not match[1]:
        return unquote(match[2])
    try:
        return b64decode(unquote(match[2]), validate=False).decode("utf-8", "replace")
    except (NotBase64, ValueError):
        return ""


def _lead_links(soup: BeautifulSoup, places: dict[str, tuple[str, str]]) -> None:
    for link in soup.find_all("a"):
        if not isinstance(link, Tag):
            continue
        address = str(link.get("href") or "")
        if match := _HERE.match(address):
            if match[2] and match[2][1:] in places:
                address = match[2]
            else:
                link["href"] = f"https://github.com/{match[1]}"
        if address.startswith("#") and (place := places.get(unquote(address[1:]))):
            name, heading = place
            link["href"] = f"{name}#{slugify(heading)}"
