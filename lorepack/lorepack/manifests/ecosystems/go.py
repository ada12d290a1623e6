"""``go.mod`` and ``go.work``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import read_text
from lorepack.manifests.repos import repo_of_url

_BLOCK = re.compile(r"^(\w+)\s*\(\s*$(.*?)^\)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^(require|replace|use)[ \t]+([^(\s].*)$", re.MULTILINE)
_VANITY = {
    "golang.org/x/": "golang/", "go.uber.org/": "uber-go/", "k8s.io/": "kubernetes/",
    "sigs.k8s.io/": "kubernetes-sigs/",
}  # fmt: skip
"""Beginnings of module paths whose last part names a repository of one owner."""


def mod(path: Path) -> Iterator[Wanted]:
    """Yield the modules that are required directly; a replaced one is what it is replaced by."""
    entries = list(_entries(read_text(path)))
    replaced = {
        match[1]: match[2]
        for kind, line in entries
        if kind == "replace" and (match := re.match(r"(\S+)(?:\s+v\S+)?\s+=>\s+(\S+)", line))
    }
    for kind, line in entries:
        match = re.match(r"(\S+)\s+(v\S+)", line) if kind == "require" else None
        if match is None or "// indirect" in line:
            continue
        name = match[1]
        target = replaced.get(name, name)
        if target.startswith((".", "/")):
            continue
        yield Wanted("go", name, match[2], module_repo(target))


def members(path: Path) -> list[str]:
    """Return the folders that a ``go.work`` uses."""
    return [line.split()[0] for kind, line in _entries(read_text(path)) if kind == "use"]


def module_repo(module: str) -> str:
    """Return the repository of a module path; '' where only its host could tell.

    Hosts are not asked: a file of a project must not choose whom we ask.
    """
    for beginning, owner in _VANITY.items():
        if module.startswith(beginning):
            return owner + module.removeprefix(beginning).split("/", 1)[0]
    if match := re.match(r"gopkg\.in/(?:([\w-]+)/)?([\w-]+)\.v\d+", module):
        return f"{match[1] or 'go-' + match[2]}/{match[2]}"
    return repo_of_url(f"https://{module}")


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, line) of all directives, in blocks or alone."""
    for block in _BLOCK.finditer(text):
        for line in block[2].splitlines():
            if line.strip() and not line.strip().startswith("//"):
                yield block[1], line.strip()
    for match in _LINE.finditer(_BLOCK.sub("", text)):
        yield match[1], match[2].strip()
