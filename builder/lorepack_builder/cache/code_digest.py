"""A digest of the builder itself: what it made before stays good while this does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

_CODE = ("lorepack_builder", "lorepack", "lorepack_site", "lorepack_templates")
_LIBRARIES = (
    "lorepack", "ahocorasick_rs", "beautifulsoup4", "markdown-it-py", "markdownify",
    "mdit-py-plugins", "mkdocs", "mkdocs-material", "nh3", "pygments", "pyyaml", "rapidfuzz",
    "snowballstemmer", "tree-sitter", "tree-sitter-c", "tree-sitter-c-sharp", "tree-sitter-cpp",
    "tree-sitter-go", "tree-sitter-java", "tree-sitter-javascript", "tree-sitter-php",
    "tree-sitter-python", "tree-sitter-ruby", "tree-sitter-rust", "tree-sitter-typescript",
)  # fmt: skip


@cache
def code_digest() -> str:
    """Return the hex SHA-256 of the builder's files and of the versions of what it builds with."""
    digest = hashlib.sha256(json.dumps([(n, version(n)) for n in _LIBRARIES]).encode())
    for package in _CODE:
        for path, file in files_below(files(package)):
            digest.update(path.encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def files_below(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files of a package by their path in it, in order."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from files_below(entry, f"{prefix}{entry.name}/")
        elif entry.is_file():
            yield prefix + entry.name, entry
