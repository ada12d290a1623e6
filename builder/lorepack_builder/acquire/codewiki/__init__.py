"""Wikis that programs write of a repository: CodeWiki, Qoder's repowiki, DeepWiki."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from lorepack.util.untrusted import tables
from lorepack_builder.acquire.codewiki.modules import module_tree
from lorepack_builder.acquire.codewiki.qoder import repowiki
from lorepack_builder.acquire.folder import list_files
from lorepack_builder.acquire.ignore import ignore_rules
from lorepack_builder.acquire.layout import is_repowiki
from lorepack_builder.acquire.repo import Acquired
from lorepack_builder.model import Source
from lorepack_builder.recipe import SourceSpec

_ABOUT = frozenset({"module_tree.json", "first_module_tree.json", "metadata.json"})
_REPO = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_IN_FOLDER = re.compile(r"([A-Za-z0-9_.-]+?)--([A-Za-z0-9_.-]+?)(?:-docs)?/?$")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_MAX_JSON = 50 * 2**20
GITHUB = "https://github.com/"


def acquire_codewiki(spec: SourceSpec, source: Source) -> Acquired:
    """Return the pages of a wiki, with what its own lists say of them.

    What a program was asked to write (prompts) stays out.
    """
    files, findings = list_files(source, ignore_rules(spec))
    if is_repowiki(source.root) or any(is_repowiki(p) for p in source.root.iterdir() if p.is_dir()):
        about, files, odd = repowiki(source, files, read_json)
    else:
        about = read_json(source.root / "metadata.json")
        tree = read_json(source.root / "module_tree.json")
        files = [file for file in files if file.disk.name not in _ABOUT]
        files, odd = module_tree(source, tree, files) if tree else (files, [])
    repo = spec.repo or _repo_of(about, source.root)
    web = GITHUB + repo if _REPO.fullmatch(repo) else ""
    source = replace(source, web=web, revision=_commit_of(about))
    return source, [replace(file, source=source) for file in files], findings + odd


def read_json(path: Path) -> dict[str, Any]:
    """Return an object of a file; {} if there is none that can be read."""
    try:
        if path.stat().st_size > _MAX_JSON or path.is_symlink():
            return {}
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return tables(value)


def _repo_of(about: dict[str, Any], root: Path) -> str:
    info = about.get("generation_info")
    path = str(info.get("repo_path", "")) if isinstance(info, dict) else ""
    match = _IN_FOLDER.search(path) or _IN_FOLDER.search(root.name)
    return f"{match[1]}/{match[2]}" if match else ""


def _commit_of(about: dict[str, Any]) -> str:
    found = [about, *(v for v in about.values() if isinstance(v, dict))]
    for key in ("commit_id", "last_commit_id", "commit"):
        for table in found:
            if _COMMIT.fullmatch(str(table.get(key, ""))):
                return str(table[key])
    return ""
