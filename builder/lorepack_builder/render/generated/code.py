"""The overview of code: what each repository's files define, with links to the lines."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lorepack.forges import repo_name, source_url
from lorepack_builder.model import Page, Source
from lorepack_builder.render.generated.page import generated_page
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import relative_url

CODE_URL = "code/"
_SHOWN = 100
"""Symbols of a file that are listed; the file's own page has all."""
_MAX_FILES = 3_000


def code_pages(given: SiteInput) -> Iterator[SitePage]:
    """Yield the page of all sources that have code, and one for each of them."""
    found = [(source, _files(given, source)) for source in given.sources]
    found = [(source, files) for source, files in found if files]
    if not found:
        return
    rows = [
        {
            "name": source.name,
            "url": relative_url(_url(source), CODE_URL),
            "repo": repo_name(source.web),
            "files": len(files),
            "symbols": sum(len(page.symbols) for page in files),
            "languages": [name for name, _ in Counter(p.code for p in files).most_common(5)],
        }
        for source, files in found
    ]
    described = f"{sum(row['symbols'] for row in rows)} symbols in {len(rows)} sources"  # type: ignore[misc]
    yield generated_page(
        CODE_URL, "Code", "code.html.j2", {"rows": rows}, in_nav=True, description=described
    )
    for source, files in found:
        context = _overview(given, source, files)
        yield generated_page(
            _url(source), f"Code of {source.name}", "code-source.html.j2", context,
            description=f"{len(files)} files of code in {source.name}",
        )  # fmt: skip


def _url(source: Source) -> str:
    return f"{CODE_URL}{source.name}/"


def _files(given: SiteInput, source: Source) -> list[Page]:
    return [
        linked.page for linked in given.pages
        if linked.page.code and linked.page.source.name == source.name
    ]  # fmt: skip


def _overview(given: SiteInput, source: Source, files: Sequence[Page]) -> dict[str, Any]:
    folders: dict[str, list[dict[str, Any]]] = {}
    for page in files[:_MAX_FILES]:
        folder = posixpath.dirname(page.path.partition("/")[2])
        folders.setdefault(folder, []).append(_file(given, page, _url(source)))
    return {
        "repo": repo_name(source.web),
        "web": source.web,
        "commit": source.revision[:10],
        "folders": [{"name": name or "/", "files": rows} for name, rows in folders.items()],
        "more": max(0, len(files) - _MAX_FILES),
    }


def _file(given: SiteInput, page: Page, base: str) -> dict[str, Any]:
    url = relative_url(given.urls[page.path], base)
    symbols = [
        {
            "name": symbol.name,
            "kind": symbol.kind,
            "signature": symbol.signature,
            "url": f"{url}#{symbol.anchor}",
            "line": symbol.first_line,
            "at": source_url(page.source.facts(), page.path, (symbol.first_line, symbol.last_line)),
        }
        for symbol in page.symbols
    ]
    return {
        "name": posixpath.basename(page.path),
        "url": url,
        "summary": page.summary if page.symbols or page.summary else "",
        "symbols": symbols[:_SHOWN],
        "more": max(0, len(symbols) - _SHOWN),
    }
