"""The recipe of a folder that has none."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

from platformdirs import user_cache_path

from lorepack.models.registry import DEFAULT_MODEL
from lorepack.util.hashing import sha256_of
from lorepack_builder.recipe import Recipe, read_recipe

_NO_LETTERS = re.compile(r"[^a-z0-9]+")
VERSION = "0.0.0"


def recipe_of_folder(folder: Path, model: str | None = None) -> Recipe:
    """Return a recipe that compiles ``folder``: a vault, a repository, or documents.

    It is kept in the user's cache, always in the same file, so that a later build knows what an
    earlier one made.

    Raises:
        LorepackError: the model is unknown.
    """
    root = folder.expanduser().resolve()
    name = pack_name(root.name)
    lines = [
        f'[pack]\nname = "{name}"\nversion = "{VERSION}"\ntitle = {_text(root.name or name)}',
        f'[[source]]\nname = "{name}"\nkind = "{kind_of(root)}"\npath = {_text(str(root))}',
        f"[embed]\nmodel = {_text(model or DEFAULT_MODEL)}",
    ]
    path = user_cache_path("lorepack") / "recipes" / f"{sha256_of(str(root).encode())[:16]}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_recipe(path)


def kind_of(folder: Path) -> str:
    """Return the kind of source that a folder is, by what is in it."""
    if (folder / ".obsidian").is_dir():
        return "vault"
    return "repo" if (folder / ".git").exists() else "folder"


def pack_name(text: str) -> str:
    """Return a pack's name, a-z, 0-9 and -, that is like ``text``."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NO_LETTERS.sub("-", plain)[:60].strip("-") or "pack"


def _text(value: str) -> str:
    """Return a text as TOML has it: JSON's form is one of its own, but for pairs of surrogates."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
