"""Take the theme's inline scripts out of pages, so that a server may forbid all inline scripts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

FOLDER = "assets/inline"

# A page's own HTML has no scripts: what is found here is the theme's. Data blocks have a type.
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# The page for what is not there has absolute addresses, which are the same everywhere.
_SCOPE = re.compile(r'new URL\("\.[^"]*",location\)')
_ROOT = "new URL(document.querySelector('meta[name=\"lorepack-root\"]').content,location)"


def externalize_scripts(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the files with every inline script as a file of its own, once for all pages."""
    scripts: dict[str, bytes] = {}
    for name, data in files:
        if not name.endswith(".html"):
            yield name, data
            continue
        root = "/" if name == "404.html" else "../" * name.count("/")
        html = data.decode("utf-8")
        yield name, _INLINE.sub(lambda match: _refer(match[1], root, scripts), html).encode()  # noqa: B023
    yield from sorted(scripts.items())


def _refer(script: str, root: str, scripts: dict[str, bytes]) -> str:
    """Return the element that loads ``script`` from a file."""
    code = _SCOPE.sub(_ROOT, script).encode()
    name = f"{FOLDER}/{hashlib.sha256(code).hexdigest()[:12]}.js"
    scripts[name] = code
    return f'<script src="{root}{name}"></script>'
