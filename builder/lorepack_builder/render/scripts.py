"""Take the theme's inline scripts out of pages, so that a server may forbid all inline scripts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

FOLDER = "assets/inline"

# A page's own HTML has no scripts: what is found here is the theme's. Data blocks have a type.
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# The page for what is not there has absolute addresses, which are the same everywhere.
_SCOPE = re.compile(r'new URL\("\.[^"]*",location\)')
_ROOT = "new URL(document.querySelector('meta[name=\"lorepack-root\"]').content,location)"


def externalize_scripts(name: str, html: str) -> tuple[str, dict[str, bytes]]:
    """Return a page without inline scripts, and them as files by their path in the site.

    Args:
        name: the page's own path in the site.
    """
    root = "/" if name == "404.html" else "../" * name.count("/")
    scripts: dict[str, bytes] = {}
    return _INLINE.sub(lambda match: _refer(match[1], root, scripts), html), scripts


def script_call(function: str, data: Any) -> bytes:
    """Return a script that calls ``function`` with ``data``.

    From file:// a page may load scripts, but fetch nothing.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # In a script these two end a line for old browsers.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"{function}({text});\n".encode("utf-8", "replace")


def numbered(texts: Iterable[str]) -> dict[str, int]:
    """Return a number for each different text, in their order; rows then name texts by number."""
    return {text: number for number, text in enumerate(sorted(set(texts)))}


def _refer(script: str, root: str, scripts: dict[str, bytes]) -> str:
    """Return the element that loads ``script`` from a file."""
    code = _SCOPE.sub(_ROOT, script).encode()
    name = f"{FOLDER}/{hashlib.sha256(code).hexdigest()[:12]}.js"
    scripts[name] = code
    return f'<script src="{root}{name}"></script>'
