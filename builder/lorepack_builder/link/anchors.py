"""Find the heading or block that a link's fragment means."""

from __future__ import annotations

import re
import unicodedata

from lorepack_builder.convert.anchors import slugify
from lorepack_builder.model import Page

# Obsidian compares headings without these signs and with single spaces.
_IGNORED = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s_-]+")


def find_anchor(page: Page, fragment: str) -> str | None:
    """Return the rendered page's id for ``Heading``, ``A#B`` or ``^block``; None without one."""
    wanted = fragment.strip("#").strip()
    if wanted.startswith("^"):
        folded = wanted.casefold()
        return next((name for name, _ in page.block_ids if name.casefold() == folded), None)
    if page.path.endswith(".base"):
        # A view is a place in a base, but not in the page that shows its source.
        views = {_normal(name) for name, _ in page.block_ids}
        return "" if _normal(wanted) in views else None
    path = [_normal(part) for part in wanted.split("#")]
    whole = _find_path(page, path) or _find_path(page, [_normal(wanted)])
    return whole or _find_slug(page, wanted) or dict(page.labels).get(wanted)


def _find_path(page: Page, path: list[str]) -> str | None:
    """Find the last part of ``path`` below headings that match the parts before it."""
    open_headings: list[tuple[int, str]] = []
    for heading in page.headings:
        while open_headings and open_headings[-1][0] >= heading.level:
            open_headings.pop()
        open_headings.append((heading.level, _normal(heading.text)))
        names = [name for _, name in open_headings]
        if names[-1] == path[-1] and _is_subsequence(path, names):
            return heading.anchor
    return None


def _find_slug(page: Page, wanted: str) -> str | None:
    slug = slugify(wanted)
    return next((h.anchor for h in page.headings if h.anchor in (wanted, slug)), None)


def _is_subsequence(path: list[str], names: list[str]) -> bool:
    rest = iter(names)
    return all(part in rest for part in path)


def _normal(text: str) -> str:
    return _IGNORED.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()
