"""Links of an export, to where their files are in the pack."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

_OPENING = re.compile(r"\]\(<?")
_NOTION_URL = re.compile(r"https://(?:www\.)?notion\.so/[^\s)]*?([0-9a-f]{32})(?:[?#][^\s)]*)?$")
_IDS = re.compile(r"(?:%20|[ _-])[0-9a-f]{32}(?=[/.]|_all\.|$)")
_ID = re.compile(r"([0-9a-f]{32})")
_LONGEST = 2000


def relink(text: str, page: str, names: Mapping[str, str]) -> str:
    """Return ``text`` with its links to files of the export changed to their new names.

    Notion leaves ``#``, ``(``, ``)`` and ``&`` in addresses as they are, so that the export's own
    files decide where an address ends.

    Args:
        page: the page's path in the export, and ``names`` the new path of every file there.
    """
    parts: list[str] = []
    position = 0
    for match in _OPENING.finditer(text):
        if match.start() < position:
            continue
        found = _address(text, match.end(), page, names)
        if found is None:
            # A file that the export lacks: its name still loses the ids.
            written = text[match.end() :].split("\n", 1)[0].partition(")")[0]
            parts += [text[position : match.end()], _IDS.sub("", written)]
            position = match.end() + len(written)
            continue
        end, target, fragment = found
        url = relative(names[target], names[page]) + fragment
        parts += [text[position : match.start()], f"]({url})"]
        position = end
    return "".join(parts) + text[position:]


def relative(target: str, page: str) -> str:
    """Return the address of a file as a link from ``page`` has it; both are paths in the pack."""
    path = posixpath.relpath(target, posixpath.dirname(page) or ".")
    return quote(path, safe="/.-_~")


def _address(
    text: str, start: int, page: str, names: Mapping[str, str]
) -> tuple[int, str, str] | None:
    """Return where the link ends, the file that it means, and its fragment."""
    line_end = text.find("\n", start)
    limit = min(line_end if line_end >= 0 else len(text), start + _LONGEST)
    end = text.find(")", start, limit)
    while end >= 0:
        written = text[start:end].rstrip(">")
        target = _find(written, page, names)
        if target:
            return end + 1, target, ""
        path, sign, fragment = written.partition(".md#")
        if sign and (target := _find(f"{path}.md", page, names)):
            return end + 1, target, f"#{fragment}"
        end = text.find(")", end + 1, limit)
    return None


def _find(written: str, page: str, names: Mapping[str, str]) -> str | None:
    if match := _NOTION_URL.fullmatch(written):
        return next((name for name in names if _has_id(name, match[1])), None)
    if "://" in written or not written:
        return None
    for path in (unquote(written), written):
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        for candidate in (whole, f"{whole.removesuffix('.csv')}_all.csv"):
            if candidate in names:
                return candidate
    return None


def _has_id(name: str, id: str) -> bool:
    return _ID.findall(posixpath.basename(name))[-1:] == [id]
