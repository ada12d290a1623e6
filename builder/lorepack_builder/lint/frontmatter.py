"""Rules about what a page says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lorepack_builder.lint.report import finding
from lorepack_builder.model import Finding, Page
from lorepack_builder.parse import CREATED_KEYS, LIFECYCLES, UPDATED_KEYS
from lorepack_builder.parse.dates import iso_moment
from lorepack_builder.parse.frontmatter import as_list, as_text
from lorepack_builder.parse.markdown.tags import is_tag


def frontmatter_findings(page: Page, summary_characters: int) -> Iterator[Finding]:
    """Yield values that were not understood, and summaries that are too long."""
    if page.frontmatter == "{}":
        return
    values: Mapping[str, Any] = json.loads(page.frontmatter)
    said = as_text(values.get("lifecycle"))
    if said and said.lower() not in LIFECYCLES:
        message = f"the lifecycle {said!r} is none that is known"
        fix = f"write one of {', '.join(sorted(LIFECYCLES))}"
        yield _at("unknown-lifecycle", page, "lifecycle", message, fix)
    for key in (*CREATED_KEYS, *UPDATED_KEYS):
        text = as_text(values.get(key))
        if text and not iso_moment(text):
            message = f"{key} is {text[:40]!r}, which is no date"
            yield _at("bad-date", page, key, message, "write it as 2026-01-31")
    for key in ("tags", "tag"):
        for word in (w for item in as_list(values.get(key)) for w in item.split()):
            if (name := word.strip("#/")) and not is_tag(name):
                message = f"{word[:40]!r} is no tag"
                fix = "use letters, digits, - _ and /, and not digits alone"
                yield _at("bad-tag", page, key, message, fix)
    for key in ("description", "summary"):
        length = len(as_text(values.get(key)))
        if length > summary_characters:
            message = f"the {key} has {length} characters; {summary_characters} are shown"
            yield _at("long-summary", page, key, message, "shorten it")


def _at(rule: str, page: Page, key: str, message: str, fix: str) -> Finding:
    """Return a finding on the line of a property; the YAML begins below the file's first line."""
    lines = page.properties.split("\n")
    line = next((n for n, text in enumerate(lines, 2) if text.startswith(f"{key}:")), 1)
    return finding(rule, page.path, line, message, fix)
