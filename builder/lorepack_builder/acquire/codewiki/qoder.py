"""Qoder's repowiki: pages below ``content/``, relations in ``meta/repowiki-metadata.json``."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lorepack.util.untrusted import dicts
from lorepack_builder.model import Finding, Source, SourceFile

METADATA = "meta/repowiki-metadata.json"


def repowiki(
    source: Source, files: list[SourceFile], read_json: Callable[[Path], dict[str, Any]]
) -> tuple[dict[str, Any], list[SourceFile], list[Finding]]:
    """Return the metadata, and the pages with those below them.

    The metadata hold what the program was asked for each page; of them, names and relations alone
    are used, and nothing below ``meta/`` is packed.
    """
    about: dict[str, Any] = {}
    kept: list[SourceFile] = []
    related: defaultdict[str, list[str]] = defaultdict(list)
    findings: list[Finding] = []
    for root in [source.root, *sorted(p for p in source.root.iterdir() if p.is_dir())]:
        if not (root / "content").is_dir():
            continue
        content = root / "content"
        own = [file for file in files if file.disk.is_relative_to(content)]
        kept += own
        data = read_json(root / METADATA)
        about = about or data
        pages = _by_id(data, own)
        for parent, child in _relations(data):
            if parent in pages and child in pages:
                related[pages[parent]].append(pages[child])
        lost = [name for id, name in _names(data) if id not in pages]
        findings += (
            Finding("lost-page", "info", f"{source.name}/{METADATA}", 1,
                    f"the page {name!r} is listed, and has no file")
            for name in lost
        )  # fmt: skip
    return about, [replace(f, related=tuple(related[f.path])) for f in kept], findings


def _by_id(data: dict[str, Any], files: list[SourceFile]) -> dict[str, str]:
    """Return the pages' paths by the ids of the catalogue; a name that two have tells nothing."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        named[posixpath.basename(file.path).removesuffix(".md").casefold()].append(file.path)
    return {
        id: named[name.casefold()][0]
        for id, name in _names(data)
        if len(named.get(name.casefold(), ())) == 1
    }


def _names(data: dict[str, Any]) -> list[tuple[str, str]]:
    entries = dicts(data.get("wiki_catalogs"))
    return [(str(e["id"]), str(e["name"])) for e in entries if e.get("id") and e.get("name")]


def _relations(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (parent, child) ids."""
    told = [
        (str(e.get("source_id", "")), str(e.get("target_id", "")))
        for e in dicts(data.get("knowledge_relations"))
    ]
    told += [
        (str(e["parent_id"]), str(e.get("id", "")))
        for e in dicts(data.get("wiki_catalogs"))
        if e.get("parent_id")
    ]
    return list(dict.fromkeys(told))
