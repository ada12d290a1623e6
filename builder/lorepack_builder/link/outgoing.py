"""The links between pages, forth and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from lorepack_builder.model import LinkedPage


def outgoing(linked: LinkedPage) -> list[str]:
    """Return the paths of the other pages that a page links to, in order."""
    targets = (*linked.targets, *(ref.target for ref in linked.code_refs))
    paths = (t.path for t in targets if t and t.kind == "page")
    return [path for path in dict.fromkeys(paths) if path != linked.page.path]


def backlinks(pages: Sequence[LinkedPage]) -> Mapping[str, Collection[str]]:
    """Return the pages that link to each page, by path and in order."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for item in pages:
        for path in outgoing(item):
            found[path][item.page.path] = None
    return found
