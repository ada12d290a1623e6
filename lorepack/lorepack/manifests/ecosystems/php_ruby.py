"""``composer.json`` and ``Gemfile.lock``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import read_json, read_text
from lorepack.manifests.repos import repo_of_url
from lorepack.util.untrusted import tables

_GEM = re.compile(r"^ {2}([\w.-]+)(!?)(?: \((.*)\))?$", re.MULTILINE)
_REMOTE = re.compile(r"^GIT\n {2}remote: (\S+)\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_SPEC = re.compile(r"^ {4}([\w.-]+) \(([^)]*)\)$", re.MULTILINE)


def composer(path: Path) -> Iterator[Wanted]:
    """Yield what a project requires; PHP itself and its extensions are no packages."""
    data = read_json(path)
    for field in ("require", "require-dev"):
        for name, version in tables(data.get(field)).items():
            if "/" in name and isinstance(version, str):
                yield Wanted("packagist", name, version)


def gemfile_lock(path: Path) -> Iterator[Wanted]:
    """Yield the gems that a project asks for itself, at the versions that were locked."""
    text = read_text(path)
    repos = {
        name: repo_of_url(match[1])
        for match in _REMOTE.finditer(text)
        for name, _ in _SPEC.findall(match[2])
    }
    locked = dict(_SPEC.findall(text))
    wanted = re.search(r"^DEPENDENCIES\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    for name, _, asked in _GEM.findall(wanted[1]) if wanted else ():
        yield Wanted("rubygems", name, locked.get(name, asked), repos.get(name, ""))
