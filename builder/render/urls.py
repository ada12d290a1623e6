"""Addresses in the site: derived from a page's path alone, readable, safe in any file system."""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Collection, Sequence
from urllib.parse import quote

_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\?#%&:*\"<>|\[\]{}^`~$+,;=@!'()]+")
_SPACES = re.compile(r"[\s-]+")
_PAGE_SUFFIX = re.compile(r"\.(?:md|markdown|txt)$", re.IGNORECASE)
_MAX_SEGMENT = 80


def page_urls(paths: Sequence[str]) -> dict[str, str]:
    """Return each page's address below the site's root: not encoded, with a final slash.

    Two paths that would share an address are told apart by a hash of the path, for all but the
    first in their order.
    """
    urls: dict[str, str] = {}
    taken: set[str] = set()
    for path in sorted(paths):
        stem = _PAGE_SUFFIX.sub("", path)
        url = "/".join(map(_segment, stem.split("/"))) + "/"
        if url in taken:
            url = f"{url[:-1]}-{_hash(path)}/"
        taken.add(url)
        urls[path] = url
    return urls


def folder_url(path: str, taken: Collection[str]) -> str:
    """Return the address of a folder's own page; one that is taken gets a hash of its path."""
    url = "/".join(map(_segment, path.split("/"))) + "/"
    return f"{url[:-1]}-{_hash(path + '/')}/" if url in taken else url


def file_url(path: str) -> str:
    """Return the address of an attachment."""
    stem, suffix = posixpath.splitext(path)
    slug = "/".join(map(_segment, stem.split("/")))
    return f"files/{slug}-{_hash(path)}{suffix.lower()}"


def relative_url(url: str, base: str) -> str:
    """Return ``url`` as seen from the page at ``base``, percent-encoded."""
    if url == base:
        return ""
    relative = posixpath.relpath(url or ".", base or ".")
    if url.endswith("/") or not url:
        relative += "/"
    return quote(relative, safe="/.-_~")


def _segment(text: str) -> str:
    """Lower-case, hyphens for spaces; a name that loses signs by that gets a hash of itself."""
    folded = unicodedata.normalize("NFC", text).lower()
    safe = _UNSAFE.sub("-", folded)
    slug = _SPACES.sub("-", safe).strip("-. ")
    if safe != folded or not slug or len(slug) > _MAX_SEGMENT or slug != slug.strip("."):
        return f"{slug[:_MAX_SEGMENT]}-{_hash(text)}".lstrip("-.")
    return slug


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]
