"""Repositories by their addresses."""

from __future__ import annotations

import re

_FORGE = re.compile(
    r"(?:[a-z+]+://|scm:git:|git@|ssh://)*(?:[^/@\s]+@)?"
    r"(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)[/:]"
    r"([\w.-]+)/([\w.-]+?)(?:\.git)?(?=[/#?@\s\"\'<>),;]|$)",
    re.IGNORECASE,
)
_NO_OWNER = frozenset({"sponsors", "orgs", "apps", "features", "about", "users"})


def repo_of_url(url: str) -> str:
    """Return ``owner/name`` of an address on a forge, whatever follows it; '' for any other."""
    match = _FORGE.search(url)
    if match is None or match[1].lower() in _NO_OWNER or match[2] in ("", ".", ".."):
        return ""
    return f"{match[1]}/{match[2]}"
