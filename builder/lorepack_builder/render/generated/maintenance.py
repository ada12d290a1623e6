"""What the wiki could be better in: its state, links it lacks, concepts that nothing joins, and the
pages that AI tools wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lorepack_builder.model import Page
from lorepack_builder.render.generated.page import generated_page, page_link
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import relative_url

UPKEEP_URL = "upkeep/"
_LINKS_URL, _CONCEPTS_URL = "upkeep/links/", "upkeep/concepts/"
_MEMORY_URL = "upkeep/memory/"
_PAGES = 500
_OF_PAGE = 3
_CONCEPTS = 100
_EXCERPT = 300


def upkeep_pages(given: SiteInput) -> Iterator[SitePage]:
    """Yield the overview, then the pages below it."""
    yield _overview(given)
    yield _below(given, _LINKS_URL, "Links to add", "links.html.j2", _links(given))
    yield _below(given, _CONCEPTS_URL, "Concepts to join", "concepts.html.j2", _concepts(given))
    yield _below(given, _MEMORY_URL, "Written by AI tools", "memory.html.j2", _memory(given))


def _overview(given: SiteInput) -> SitePage:
    pages = [item.page for item in given.pages]
    counts: dict[str, Counter[str]] = {
        "Category": Counter(folders[0] for p in pages if (folders := p.path.split("/")[1:-1])),
        "Lifecycle": Counter(p.lifecycle for p in pages if p.lifecycle),
        "Language": Counter(p.lang for p in pages),
        "Source": Counter(p.source.name for p in pages),
        "Finding": Counter(finding.severity for finding in given.findings),
    }
    days = sorted(p.day for p in pages if p.day)
    context = {
        "day": given.upkeep.day,
        "counts": [
            {"name": name, "rows": rows.most_common(20)} for name, rows in counts.items() if rows
        ],
        "stale": sum(finding.rule == "stale-page" for finding in given.findings),
        "days": [days[0], days[-1]] if days else [],
        "suggestions": sum(map(len, given.upkeep.suggestions.values())),
        "concepts": len(given.upkeep.concepts),
        "tags": sum(bool(tag.message) for tag in given.upkeep.tags),
        "written": sum(bool(p.tool) for p in pages),
    }
    return generated_page(
        UPKEEP_URL, "Upkeep", "upkeep.html.j2", context, in_nav=True,
        description="The wiki's state, and what it could be better in",
    )  # fmt: skip


def _below(
    given: SiteInput, url: str, title: str, template: str, context: dict[str, Any]
) -> SitePage:
    parents = [{"title": "Upkeep", "url": relative_url(UPKEEP_URL, url)}]
    return generated_page(
        url, title, template, context, description=f"{title}: {given.title}", parents=parents,
        beside=[], hidden=0,
    )  # fmt: skip


def _links(given: SiteInput) -> dict[str, Any]:
    found = given.upkeep.suggestions
    best = sorted(found, key=lambda path: (-found[path][0].score, path))
    rows = [
        {
            "page": page_link(path, given.map, _LINKS_URL),
            "suggestions": [
                {"line": s.line, "message": s.message, "link": s.link, "kind": s.kind}
                for s in found[path][:_OF_PAGE]
            ],
            "more": max(0, len(found[path]) - _OF_PAGE),
        }
        for path in best[:_PAGES]
    ]
    return {"rows": rows, "more": max(0, len(best) - _PAGES)}


def _concepts(given: SiteInput) -> dict[str, Any]:
    groups = given.upkeep.concepts
    rows = []
    for group in groups[:_CONCEPTS]:
        passages = []
        for passage in group.passages:
            link = page_link(passage.path, given.map, _CONCEPTS_URL)
            text = " ".join(passage.text.split())
            excerpt = text[:_EXCERPT] + ("…" if len(text) > _EXCERPT else "")
            link["url"] += f"#{passage.anchor}" if passage.anchor else ""
            passages.append({**link, "line": passage.line, "excerpt": excerpt})
        pages = [page_link(path, given.map, _CONCEPTS_URL) for path in group.targets]
        rows.append({"pages": pages, "message": group.message, "passages": passages})
    return {"rows": rows, "more": max(0, len(groups) - _CONCEPTS)}


def _memory(given: SiteInput) -> dict[str, Any]:
    pages = [item.page for item in given.pages if item.page.tool]
    pages.sort(key=lambda page: (page.day, page.path), reverse=True)
    tools = Counter(tool for page in pages for tool in _tools(page))
    groups = [
        {
            "tool": tool,
            "count": tools[tool],
            "pages": [
                {**page_link(page.path, given.map, _MEMORY_URL), "date": page.day}
                for page in pages if tool in _tools(page)
            ][:_PAGES],
        }
        for tool in sorted(tools)
    ]  # fmt: skip
    return {"groups": groups}


def _tools(page: Page) -> list[str]:
    return [tool.strip() for tool in page.tool.split(",") if tool.strip()]
