"""The lint report: what the build noticed, with filters."""

from __future__ import annotations

from collections import Counter

from lorepack_builder.model import Finding
from lorepack_builder.render.generated.page import generated_page
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import relative_url

LINT_URL = "lint/"
SHOWN_OF_RULE = 300
"""Findings of one rule that are listed."""
_ORDER = {"error": 0, "warning": 1, "info": 2}


def lint_page(given: SiteInput) -> SitePage:
    """Return the page of all findings, gravest first."""
    ordered = sorted(given.findings, key=lambda f: (_ORDER[f.severity], f.path, f.line, f.rule))
    rules = Counter(finding.rule for finding in ordered)
    shown: Counter[str] = Counter()
    rows = []
    for finding in ordered:
        shown[finding.rule] += 1
        if shown[finding.rule] <= SHOWN_OF_RULE:
            rows.append(_row(finding, given))
    context = {
        "rows": rows,
        "more": len(ordered) - len(rows),
        "rules": [{"name": rule, "count": rules[rule]} for rule in sorted(rules)],
        "severities": [
            {"name": name, "count": count}
            for name in _ORDER
            if (count := sum(finding.severity == name for finding in ordered))
        ],
    }
    return generated_page(
        LINT_URL, "Lint", "lint.html.j2", context, in_nav=True, script="lint",
        description=f"{len(ordered)} findings",
    )  # fmt: skip


def _row(finding: Finding, given: SiteInput) -> dict[str, object]:
    url = given.urls.get(finding.path)
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "url": relative_url(url, LINT_URL) if url else "",
        "message": finding.message,
        "fix": finding.fix,
    }
