"""Link: where every link of every page leads, by Obsidian's own rules."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from lorepack.builder.link.anchors import find_anchor
from lorepack.builder.link.resolve import FileIndex, Match
from lorepack.builder.model import Finding, Link, LinkedPage, Page, SourceFile, Target
from lorepack.builder.parse.extract import is_external


def link_pages(
    pages: Sequence[Page], files: Sequence[SourceFile]
) -> tuple[list[LinkedPage], list[Finding]]:
    """Resolve the links of all pages.

    Args:
        files: every file that may be linked to; those of pages that were left out are not.
    """
    names = {page.source.name for page in pages}
    indexes = {name: FileIndex(name, pages, files) for name in sorted(names)}
    by_path = {page.path: page for page in pages}
    linked: list[LinkedPage] = []
    findings: list[Finding] = []
    for page in pages:
        index = indexes[page.source.name]
        targets = [_target(page, link, index, by_path, findings) for link in page.links]
        linked.append(LinkedPage(page, tuple(targets)))
    return linked, findings


def _target(
    page: Page, link: Link, index: FileIndex, pages: dict[str, Page], findings: list[Finding]
) -> Target | None:
    target, fragment = link.target, link.fragment
    if link.syntax == "markdown" and is_external(target):
        inside = _obsidian_path(target)
        if inside is None:
            return None
        target, _, fragment = inside.partition("#")
    match = index.resolve(target, page.path, link.syntax) if target else Match(page.path)
    if match.path is None:
        message = f"{_shown(link)} leads nowhere"
        findings.append(
            Finding("broken-link", "warning", page.path, link.line, message,
                    "correct the link or write the page")
        )  # fmt: skip
        return Target("missing", target)
    if match.others:
        others = ", ".join(match.others[:3])
        message = f"{_shown(link)} could be {match.path} or {others}; the first is taken"
        findings.append(
            Finding("ambiguous-link", "info", page.path, link.line, message, "write its path")
        )
    if match.path not in pages:
        return Target("file", match.path)
    anchor = find_anchor(pages[match.path], fragment) if fragment else ""
    if anchor is None:
        message = f"{_shown(link)}: {match.path} has no {fragment!r}"
        findings.append(
            Finding("missing-anchor", "warning", page.path, link.line, message,
                    "correct the heading or block")
        )  # fmt: skip
    return Target("page", match.path, anchor or "")


def _shown(link: Link) -> str:
    whole = f"{link.target}#{link.fragment}" if link.fragment else link.target
    return f"[[{whole}]]" if link.syntax == "wikilink" else f"({whole})"


def _obsidian_path(url: str) -> str | None:
    """Return the note that ``obsidian://open?file=…`` names."""
    if not url.lower().startswith("obsidian:"):
        return None
    parts = urlsplit(url)
    named = parse_qs(parts.query).get("file") if parts.netloc == "open" else None
    return named[0] if named else None
