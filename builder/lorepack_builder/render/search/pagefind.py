"""Pagefind's index of the pages.

Pagefind takes a run of Chinese for one word, and holds ``ı`` apart from ``i``. So what it reads is
a copy: signs of scripts without spaces stand apart, and ``ı`` is ``ȉ``, which it folds to ``i`` as
it does all marks. The search box asks, and shows, accordingly (``site/assets/search-pagefind.js``).

All languages share one index, without stems: a language's stems are wrong in another, and a word is
looked for by its beginning.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Sequence
from html import escape
from pathlib import Path

from pagefind_bin import get_executable

from lorepack.errors import LorepackError
from lorepack.text.tokenize import UNSPACED
from lorepack.util.temporary import own_folder
from lorepack_builder.render.search.sections import TAG

_APART = re.compile(rf"(?<=[{UNSPACED}])(?!\s)|(?<!\s)(?=[{UNSPACED}])")
_SHIPPED = re.compile(
    r"pagefind\.js|pagefind-worker\.js|pagefind-entry\.json|wasm\.unknown\.pagefind"
    r"|.*\.pf_(?:meta|index|fragment)"
)
_FRAGMENT = b"pagefind_dcd"


def index_pages(
    pages: Sequence[tuple[str, str, str]],
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Index (address, title, HTML of the body) and return ``pagefind/…`` files.

    Returns:
        The files by their path in the site, and Pagefind's id of each page by address.

    Raises:
        LorepackError: Pagefind failed.
    """
    with own_folder() as site:
        for number, (_, title, body) in enumerate(pages):
            # Named by number: addresses may be longer than a file system takes, once encoded.
            (site / f"{number}.html").write_text(_copy(title, body), "utf-8")
        if not pages:
            (site / "0.html").write_text(_copy("Nothing", ""), "utf-8")
        _run(site)
        bundle = site / "pagefind"
        files = {
            f"pagefind/{path.relative_to(bundle).as_posix()}": path.read_bytes()
            for path in sorted(bundle.rglob("*"))
            if _SHIPPED.fullmatch(path.name)
        }
    fragments = {
        pages[int(_url(data)[1:-5])][0]: name.rpartition("/")[2].removesuffix(".pf_fragment")
        for name, data in files.items()
        if name.endswith(".pf_fragment") and pages
    }
    return files, fragments


def spaced(html: str) -> str:
    """Return ``html`` as Pagefind is to read it: its text changed, its tags and anchors not."""
    parts, at = [], 0
    for tag in TAG.finditer(html):
        parts += [_spaced_text(html[at : tag.start()]), tag.group()]
        at = tag.end()
    parts.append(_spaced_text(html[at:]))
    return "".join(parts)


def _spaced_text(text: str) -> str:
    return _APART.sub(" ", text).replace("ı", "ȉ")


def _copy(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="und"><body data-pagefind-body>'
        f'<p data-pagefind-weight="7">{spaced(escape(title))}</p>{spaced(body)}</body></html>'
    )


def _run(site: Path) -> None:
    command = [str(get_executable()), "--site", str(site), "--force-language", "und", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problem = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise LorepackError(f"Pagefind failed ({problem[0]})", "reinstall pagefind-bin")


def _url(fragment: bytes) -> str:
    plain = gzip.decompress(fragment)
    return str(json.loads(plain[plain.index(_FRAGMENT) + len(_FRAGMENT) :])["url"])
