"""A tag taxonomy: a page, or a file, whose list says which tags there are.

    - #sea: all that has to do with it
    - ports (also: harbour, haven): where ships land
      - piers

An item below another is a tag below it: ``ports/piers``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)[-*+][ \t]+(?:\[.\][ \t]+)?[`*_]*#?(?P<tag>[^\s`*:#,()]+)[`*]*"
    r"(?:[ \t]*\((?:also|or|=)[ \t:]*(?P<also>[^)\n]*)\))?[ \t]*(?:[:–—-]+[ \t]*(?P<about>.*))?$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class TaxonomyTag:
    """A tag that is allowed, what it is about, and words that are not to be used instead."""

    tag: str
    about: str = ""
    also: Sequence[str] = ()


def read_taxonomy(markdown: str) -> list[TaxonomyTag]:
    """Return the tags that the lists of a page name, in order; none if there is no such list."""
    found: dict[str, TaxonomyTag] = {}
    above: list[tuple[int, str]] = []
    for match in _ITEM.finditer(markdown):
        depth = len(match["indent"].expandtabs(4))
        while above and above[-1][0] >= depth:
            above.pop()
        tag = match["tag"].strip("/")
        if above and not tag.startswith(f"{above[-1][1]}/"):
            tag = f"{above[-1][1]}/{tag}"
        above.append((depth, tag))
        also = [word.strip(" #`") for word in (match["also"] or "").split(",")]
        about = (match["about"] or "").strip()
        found.setdefault(tag, TaxonomyTag(tag, about, tuple(filter(None, also))))
    return list(found.values())
