"""Link: where every link of every page leads, by Obsidian's own rules."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from lorepack_builder.link.anchors import find_anchor
from lorepack_builder.link.code import CodeIndex, web_target
from lorepack_builder.link.resolve import FileIndex, Match
from lorepack_builder.model import Finding, Link, LinkedPage, Mention, Page, SourceFile, Target
from lorepack_builder.parse.extract import is_external
from lorepack_builder.parse.mentions import wiki_mention
from lorepack_builder.parse.rst.inline import LABEL_SCHEME

_CODE_LAYOUTS = ("repo", "codewiki")
_NOTES = frozenset({".md", ".markdown", ".mdx", ".canvas", ".base"})
"""Endings of embeds that are pages."""
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{1,4}")
_LINES = re.compile(r"L(\d{1,7})(?:-L?\d{1,7})?")


def link_pages(
    pages: Sequence[Page], files: Sequence[SourceFile]
) -> tuple[list[LinkedPage], list[Finding]]:
    """Resolve the links of all pages, and the code that they name.

    Args:
        files: every file that may be linked to; those of pages that were left out are not.
    """
    sources = {page.source.name: page.source for page in pages}
    by_path = {page.path: page for page in pages}
    code = CodeIndex(pages, files)
    scopes = {
        name: _Scope(FileIndex(source, pages, files), _labels(name, pages), by_path, code)
        for name, source in sorted(sources.items())
    }
    linked: list[LinkedPage] = []
    findings: list[Finding] = []
    for page in pages:
        scope = scopes[page.source.name]
        targets = [_target(page, link, scope, findings) for link in page.links]
        refs = (code.resolve(mention, page) for mention in page.mentions)
        linked.append(LinkedPage(page, tuple(targets), tuple(ref for ref in refs if ref)))
    return linked, findings


@dataclass(frozen=True)
class _Scope:
    """What the links of one source are looked up in."""

    index: FileIndex
    labels: Mapping[str, tuple[str, str]]
    pages: Mapping[str, Page]
    code: CodeIndex


def _labels(source: str, pages: Sequence[Page]) -> dict[str, tuple[str, str]]:
    """Return the page and anchor of every label of a source; the first to have it keeps it."""
    found: dict[str, tuple[str, str]] = {}
    for page in pages:
        if page.source.name == source:
            for label, anchor in page.labels:
                found.setdefault(label, (page.path, anchor))
    return found


def _target(page: Page, link: Link, scope: _Scope, findings: list[Finding]) -> Target | None:
    target, fragment = link.target, link.fragment
    layout = page.source.layout
    if layout == "codewiki" and (cited := _citation(page, link, scope)):
        return cited
    if target.startswith(LABEL_SCHEME):
        return _label_target(page, link, scope, findings)
    if link.syntax == "markdown" and is_external(target):
        inside = _obsidian_path(target)
        if inside is None:
            return None
        target, _, fragment = inside.partition("#")
    match = scope.index.resolve(target, page.path, link.syntax) if target else Match(page.path)
    if match.path is None:
        if layout in _CODE_LAYOUTS and link.syntax == "wikilink":
            # ``[[nodiscard]]`` is no link where nobody writes such.
            return None
        if outside := _outside_subdir(page, target):
            return outside
        findings.append(_broken(page, link))
        return Target("missing", target)
    if match.others:
        others = ", ".join(match.others[:3])
        message = f"{_shown(link)} could be {match.path} or {others}; the first is taken"
        findings.append(
            Finding("ambiguous-link", "info", page.path, link.line, message, "write its path")
        )
    if match.path not in scope.pages:
        return Target("file", match.path)
    found = scope.pages[match.path]
    anchor = find_anchor(found, fragment) if fragment else ""
    if anchor is None and found.code and (lines := _LINES.fullmatch(fragment)):
        return scope.code.at_lines(match.path, (int(lines[1]), int(lines[1])))
    if anchor is None:
        message = f"{_shown(link)}: {match.path} has no {fragment!r}"
        findings.append(
            Finding("missing-anchor", "warning", page.path, link.line, message,
                    "correct the heading or block")
        )  # fmt: skip
    return Target("page", match.path, anchor or "")


def _broken(page: Page, link: Link) -> Finding:
    message = f"{_shown(link)} leads nowhere"
    suffix = posixpath.splitext(link.target)[1].lower()
    if link.embed and _SUFFIX.fullmatch(suffix) and suffix not in _NOTES:
        rule, fix = "missing-attachment", "add the file, or take it out"
    else:
        rule, fix = "broken-link", "correct the link or write the page"
    return Finding(rule, "warning", page.path, link.line, message, fix)


def _citation(page: Page, link: Link, scope: _Scope) -> Target | None:
    """Return where a generated wiki's link into code, or to a page by its number, leads."""
    if not link.target and link.fragment in scope.labels:
        path, anchor = scope.labels[link.fragment]
        return Target("page", path, anchor)
    mention = wiki_mention(link)
    if mention is None:
        return None
    if not link.target.startswith(("file:", "https:")) and link.target:
        match = scope.index.resolve(link.target, page.path, link.syntax)
        if match.path is not None:
            return None
    ref = scope.code.resolve(mention, page)
    if ref and ref.target.kind == "page":
        return ref.target
    return None if ":" in mention.text else web_target(mention, page.source)


def _label_target(page: Page, link: Link, scope: _Scope, findings: list[Finding]) -> Target | None:
    label = unquote(link.target.removeprefix(LABEL_SCHEME))
    if label in scope.labels:
        path, anchor = scope.labels[label]
        return Target("page", path, anchor)
    if ":" not in label:
        message = f"the label {label!r} is nowhere in this source"
        findings.append(
            Finding("broken-link", "info", page.path, link.line, message, "correct the label")
        )
    return None


def _outside_subdir(page: Page, target: str) -> Target | None:
    """Return a file of the repository that lies beside the folder that was taken."""
    source = page.source
    if source.layout != "repo" or not source.subdir or target.startswith("/"):
        return None
    inside = posixpath.dirname(page.path.partition("/")[2])
    path = posixpath.normpath(posixpath.join(source.subdir, inside, target))
    if path.startswith("..") or f"{path}/".startswith(f"{source.subdir}/"):
        return None
    return web_target(Mention(path, 1), source)


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
