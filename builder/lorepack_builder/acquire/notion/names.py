"""Names in an export without Notion's ids, kept apart where that makes two of them equal."""

from __future__ import annotations

import hashlib
import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from lorepack_builder.acquire.layout import NOTION_ID

_CONVERTED = (".csv", ".html", ".htm")
_ID_SHOWN = 8
_ENDINGS = {".csv": "table", ".html": "html", ".htm": "html"}


def clean_paths(paths: Sequence[str]) -> dict[str, str]:
    """Return each path as it is in the pack: no ids, tables and HTML under ``.md``.

    Names that would meet all keep the last eight digits of their id (the first tell the time, and
    are often equal), so that no page's name depends on the order of others.
    """
    parts = {path: path.split("/") for path in paths}
    sharing: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for whole in parts.values():
        for depth, part in enumerate(whole):
            is_file = depth == len(whole) - 1
            stem, key = _stem(part, is_file), "/".join(whole[:depth])
            sharing[key, _fold(_plain(stem))].add(stem)
    cleaned = {}
    for path, whole in parts.items():
        names = []
        for depth, part in enumerate(whole):
            is_file = depth == len(whole) - 1
            stem = _stem(part, is_file)
            met = sharing["/".join(whole[:depth]), _fold(_plain(stem))]
            name = _with_id(stem) if len(met) > 1 else _plain(stem)
            names.append(name + (_suffix(part) if is_file else ""))
        cleaned[path] = "/".join(names)
    return _told_apart(cleaned)


def _told_apart(cleaned: dict[str, str]) -> dict[str, str]:
    """A page and a table of one name, or files whose folders had other ids, can still meet."""
    users: defaultdict[str, list[str]] = defaultdict(list)
    for path, name in cleaned.items():
        users[_fold(name)].append(path)
    for met in users.values():
        suffixes = [posixpath.splitext(path)[1].lower() for path in met]
        for path, suffix in zip(met, suffixes, strict=True):
            if len(met) == 1 or (suffix == ".md" and suffixes.count(suffix) == 1):
                continue
            stem, shown = posixpath.splitext(cleaned[path])
            ending = _ENDINGS.get(suffix, "") if suffixes.count(suffix) == 1 else ""
            cleaned[path] = f"{stem} {ending or _id(path)[-_ID_SHOWN:] or _hash(path)}{shown}"
    return cleaned


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:_ID_SHOWN]


def _stem(part: str, is_file: bool) -> str:
    return (posixpath.splitext(part)[0] if is_file else part).removesuffix("_all")


def _suffix(part: str) -> str:
    suffix = posixpath.splitext(part)[1]
    return ".md" if suffix.lower() in _CONVERTED else suffix


def _plain(stem: str) -> str:
    return NOTION_ID.sub("", stem).strip() or stem


def _with_id(stem: str) -> str:
    found = _id(stem)
    return f"{_plain(stem)} {found[-_ID_SHOWN:]}" if found else stem


def _id(name: str) -> str:
    match = NOTION_ID.search(posixpath.splitext(name)[0].removesuffix("_all"))
    return match[1] if match else ""


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
