"""Lint: linked pages → what is odd about them, and what recipes and pages want to hear of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lorepack_builder.lint.frontmatter import frontmatter_findings
from lorepack_builder.lint.hygiene import file_secrets, hygiene_findings
from lorepack_builder.lint.links import link_findings, orphans
from lorepack_builder.lint.pages import page_findings, same_titles
from lorepack_builder.model import Finding, LinkedPage, Page, SourceFile
from lorepack_builder.parse.frontmatter import as_list
from lorepack_builder.recipe.settings import OFF, LintSettings

IGNORE_KEY = "lint_ignore"
"""The property of a page that names the rules which are not to speak of it, or ``all``."""


def lint_pages(
    pages: Sequence[LinkedPage], files: Sequence[SourceFile], settings: LintSettings, day: str
) -> list[Finding]:
    """Return what is odd about the pages, in no particular order.

    Args:
        files: of all sources, pages and others.
        day: the pack's own, from which staleness counts; '' if there is none.
    """
    by_path = {item.page.path: item.page for item in pages}
    found = [*orphans(pages), *same_titles(list(by_path.values()))]
    found += file_secrets(files, frozenset(by_path))
    for item in pages:
        found += link_findings(item, by_path)
        found += page_findings(item.page, settings.page_kilobytes, settings.stale_days, day)
        found += hygiene_findings(item.page)
        found += frontmatter_findings(item.page, settings.summary_characters)
    return found


def settle(
    findings: Iterable[Finding], pages: Sequence[Page], settings: LintSettings
) -> list[Finding]:
    """Return the findings as recipe and pages want them, in the order of their places."""
    ignored = {page.path: rules for page in pages if (rules := _ignored(page))}
    kept = []
    for finding in findings:
        rules = ignored.get(finding.path, frozenset())
        severity = settings.rules.get(finding.rule, finding.severity)
        if severity != OFF and finding.rule not in rules and "all" not in rules:
            kept.append(replace(finding, severity=severity))  # type: ignore[arg-type]
    return sorted(kept, key=lambda f: (f.path, f.line, f.rule, f.message))


def _ignored(page: Page) -> frozenset[str]:
    if IGNORE_KEY not in page.frontmatter:
        return frozenset()
    values = json.loads(page.frontmatter)
    return frozenset(word for item in as_list(values.get(IGNORE_KEY)) for word in item.split())
