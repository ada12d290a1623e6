"""Addresses in the site: derived from a page's path alone, readable, safe in any file system."""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from urllib.parse import quote

_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\?#%&:*\"<>|\[\]{}^`~$+,;=@!'()]+")
_SPACES = re.compile(r"[\s-]+")
_PAGE_SUFFIX = re.compile(r"\.(?:md|mdx|markdown|txt|rst|rest|ipynb|html?)$", re.IGNORECASE)
_MAX_SEGMENT = 80
_MAX_BYTES = 200
"""Of a name in UTF-8; file systems take 255, of which a hash and a suffix need some."""
_ACTIVE = frozenset(
    {".html", ".htm", ".xhtml", ".xht", ".shtml", ".xml", ".xsl", ".xslt", ".js", ".mjs", ".wasm",
     ".css", ".swf", ".hta", ".mht", ".mhtml"}
)  # fmt: skip
TAGS_URL = "tags/"
GENERATED = frozenset(
    {"assets", "changes", "code", "files", "glossary", "graph", "hot", "lint", "pagefind",
     "search", "tags", "upkeep"}
)  # fmt: skip
"""Folders of the site that no source may have for its own."""


def page_urls(paths: Sequence[str]) -> dict[str, str]:
    """Return each page's address below the site's root: not encoded, with a final slash.

    Paths that would share an address are told apart by a hash of the path, for all but the one that
    is written as the address is. So no other page's coming or going moves a page but such a twin's.
    """
    plain = {path: _address(path) for path in sorted(paths)}
    sharing = Counter(plain.values())
    urls: dict[str, str] = {}
    for path, url in plain.items():
        own = sharing[url] == 1 or path == f"{url[:-1]}.md"
        urls[path] = url if own else f"{url[:-1]}-{_hash(path)}/"
    return urls


def markdown_url(url: str) -> str:
    """Return where a page's own Markdown lies: beside its folder."""
    return f"{url[:-1]}.md"


def folder_url(path: str, taken: Collection[str]) -> str:
    """Return the address of a folder's own page; one that is taken gets a hash of its path."""
    url = _slugs(path) + "/"
    return f"{url[:-1]}-{_hash(path + '/')}/" if url in taken else url


def tag_url(tag: str) -> str:
    """Return the address of a tag's page; tags that differ only in case are one."""
    return TAGS_URL + _slugs(tag.lower()) + "/"


def file_url(path: str) -> str:
    """Return the address of an attachment."""
    stem, suffix = posixpath.splitext(path)
    slug = _slugs(stem)
    # What a browser would run when it is opened is shipped as text.
    suffix = suffix.lower() + (".txt" if suffix.lower() in _ACTIVE else "")
    return f"files/{slug}-{_hash(path)}{suffix}"


def relative_url(url: str, base: str) -> str:
    """Return ``url`` as seen from the page at ``base``, percent-encoded."""
    if url == base:
        return ""
    to, at = url.split("/"), base.split("/")[:-1]
    shared = 0
    while shared < min(len(at), len(to) - 1) and at[shared] == to[shared]:
        shared += 1
    return "../" * (len(at) - shared) + _quoted("/".join(to[shared:]))


@lru_cache(maxsize=1 << 16)
def _quoted(path: str) -> str:
    return quote(path, safe="/.-_~")


def _address(path: str) -> str:
    source, slash, inside = _PAGE_SUFFIX.sub("", path).partition("/")
    if source in GENERATED:
        source += "-source"
    url = _slugs(f"{source}{slash}{inside}")
    # A folder of that name would stand where another page's Markdown does.
    return f"{url}-{_hash(path)}/" if url.endswith((".md", ".html")) else f"{url}/"


def _slugs(path: str) -> str:
    return "/".join(map(_segment, path.split("/")))


def _segment(text: str) -> str:
    """Lower-case, hyphens for spaces; a name that loses signs by that gets a hash of itself."""
    folded = unicodedata.normalize("NFC", text).lower()
    safe = _UNSAFE.sub("-", folded)
    slug = _SPACES.sub("-", safe).strip("-. ")
    cut = slug[:_MAX_SEGMENT].encode()[:_MAX_BYTES].decode("utf-8", "ignore")
    if safe != folded or not slug or cut != slug or slug != slug.strip("."):
        return f"{cut}-{_hash(text)}".lstrip("-.")
    return slug


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]
