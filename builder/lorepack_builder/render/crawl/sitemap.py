"""``sitemap.xml`` (sitemaps.org) and ``robots.txt``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import quote

from lorepack_builder.render.model import SiteInput, SitePage

MAX_URLS = 50_000
"""Addresses that one file may hold; more go into several with an index."""
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemaps(given: SiteInput, pages: Sequence[SitePage], address: str) -> dict[str, bytes]:
    """Return ``sitemap.xml``, and its parts where it has any."""
    days = {given.urls[p.page.path]: p.page.day for p in given.pages}
    entries = [_entry("url", address + quote(page.url), days.get(page.url, "")) for page in pages]
    if len(entries) <= MAX_URLS:
        return {"sitemap.xml": _file("urlset", entries)}
    parts = [entries[at : at + MAX_URLS] for at in range(0, len(entries), MAX_URLS)]
    names = [f"sitemap-{number}.xml" for number in range(1, len(parts) + 1)]
    index = [_entry("sitemap", address + name, "") for name in names]
    files = {name: _file("urlset", part) for name, part in zip(names, parts, strict=True)}
    return {"sitemap.xml": _file("sitemapindex", index), **files}


def robots_txt(address: str) -> bytes:
    """Return leave to read everything, and where the sitemap is."""
    return f"User-agent: *\nAllow: /\nSitemap: {address}sitemap.xml\n".encode()


def _entry(kind: str, url: str, day: str) -> str:
    changed = f"<lastmod>{day}</lastmod>" if day else ""
    return f"<{kind}><loc>{escape(url)}</loc>{changed}</{kind}>"


def _file(kind: str, entries: Sequence[str]) -> bytes:
    return "\n".join(_lines(kind, entries)).encode()


def _lines(kind: str, entries: Sequence[str]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<{kind} xmlns="{_NAMESPACE}">'
    yield from entries
    yield f"</{kind}>\n"
