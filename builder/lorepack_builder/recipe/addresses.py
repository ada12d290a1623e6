"""Addresses of sources elsewhere, as recipes write them."""

from __future__ import annotations

import re

_SCP = re.compile(r"[\w.-]+@[\w.-]+:(?!//)")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)(?:[^/?#]*@)?([^?#]*)")


def is_git_url(text: str) -> bool:
    """Say whether ``text`` names a repository elsewhere: a URL, or ``user@host:path``."""
    return "://" in text or _SCP.match(text) is not None


def without_credentials(text: str) -> str:
    """Return an address without user, password, query and fragment; any other text as it is."""
    match = _URL.match(text)
    return f"{match[1]}{match[2]}" if match else text
