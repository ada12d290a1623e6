"""The version page: what changed since the previous pack."""

from __future__ import annotations

from typing import Any

from lorepack.pack.diff.pages import PageChange
from lorepack.pack.diff.report import PLURALS
from lorepack_builder.render.generated.page import generated_page
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import relative_url

CHANGES_URL = "changes/"
_KINDS = (("added", "New"), ("changed", "Changed"), ("moved", "Moved"), ("removed", "Removed"))
_SHOWN = 500
_NAMED = 50
"""Links, symbols and findings of one sort that are listed."""


def changes_page(given: SiteInput) -> SitePage:
    """Return the page of all changes."""
    changes = given.changes
    found = changes.pages if changes else ()
    groups = []
    for how, title in _KINDS:
        own = [change for change in found if change.how == how]
        if own:
            rows = [_row(change, given) for change in own[:_SHOWN]]
            groups.append(
                {"title": title, "count": len(own), "rows": rows, "more": len(own) - len(rows)}
            )
    context = {
        "version": given.version,
        "since": changes.since if changes else "",
        "groups": groups,
        "others": _others(given),
    }
    return generated_page(
        CHANGES_URL, "Changes", "changes.html.j2", context, in_nav=True,
        description=f"{len(found)} pages differ from the previous version",
    )  # fmt: skip


def _others(given: SiteInput) -> list[dict[str, Any]]:
    """Return what changed of links, symbols and findings, by kind and how."""
    found: dict[tuple[str, str], list[str]] = {}
    for change in given.row_changes:
        found.setdefault((PLURALS[change.kind], change.how), []).append(change.name)
    return [
        {"kind": kind, "how": how, "count": len(names), "names": names[:_NAMED],
         "more": max(0, len(names) - _NAMED)}
        for (kind, how), names in found.items()
    ]  # fmt: skip


def _row(change: PageChange, given: SiteInput) -> dict[str, Any]:
    url = given.urls.get(change.path)
    return {
        "title": change.title,
        "url": relative_url(url, CHANGES_URL) if url else "",
        "before": change.before,
        "sections": [
            {"anchor": section.anchor, "heading": section.heading}
            for section in change.sections
            if section.anchor and section.heading and section.how != "removed"
        ],
    }
