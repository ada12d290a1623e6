"""Recipes: what to compile, as TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.format import NAME, VERSION
from lorepack.packfile.models.registry import DEFAULT_MODEL, NO_MODEL, OPENAI, find_model

KINDS = ("vault", "folder")
DOCUMENTED_KEYS: dict[str, dict[str, tuple[str, str]]] = {
    "[pack]": {
        "name": ("text", "the name in addresses and file names: a-z, 0-9 and -"),
        "version": ("text", "the version; letters, digits and . + - _"),
        "title": ("text", "what people see; the name if not given"),
    },
    "[site]": {
        "url": (
            "text",
            "where the site will live, `https://host/path/`; for sitemap, feed and "
            "links that need whole addresses",
        ),
    },
    "[[source]]": {
        "name": ("text", "the first part of its pages' paths: a-z, 0-9 and -"),
        "kind": ("text", "`vault` (Obsidian) or `folder`"),
        "path": ("text", "the folder, seen from the recipe's own"),
        "exclude": ("a list", "patterns to leave out, as in .gitignore"),
        "licence": ("text", "under what terms it may be used; shown on the site"),
        "lang": ("text", "the language of its pages, where they do not say; else it is guessed"),
    },
    "[[dependency]]": {
        "ecosystem": ("text", "where the package comes from: `pypi`, `npm`, `maven` …"),
        "package": ("text", "its name there"),
        "version": ("text", "the version that the project asks for, as written"),
        "repo": ("text", "its repository, `owner/name`"),
        "source": ("text", "the name of the source that covers it, if one does"),
    },
    "[embed]": {
        "model": (
            "text",
            f"`{DEFAULT_MODEL}` if not given, `bge-small-en-v1.5` (extra `rerank`), `{OPENAI}NAME` "
            "for an endpoint (`OPENAI_BASE_URL`, `OPENAI_API_KEY`), a folder with `model.onnx` and "
            f"`tokenizer.json`, seen from the recipe's own, or `{NO_MODEL}` for words only",
        ),
        "carry": (
            "true or false",
            "whether the pack carries the model that questions need, so that any machine can ask "
            "by meaning",
        ),
    },
    "[[eval]]": {
        "query": ("text", "a golden question"),
        "expect": ("text", "the page that answers it, or page#anchor; `lorepack eval` checks it"),
    },
    "[chunk]": {
        "max_tokens": ("a whole number", "a longer section is split; 32 to 512, 256 if not given"),
    },
}
"""What a recipe may say, by table: the type and the meaning of each key."""

_TOP_KEYS = {
    "pack": "a table", "site": "a table", "source": "a list", "dependency": "a list",
    "embed": "a table", "chunk": "a table", "eval": "a list",
}  # fmt: skip
_TYPES: dict[str, type] = {
    "text": str, "a whole number": int, "a list": list, "a table": dict, "true or false": bool,
}  # fmt: skip
DEFAULT_MAX_TOKENS = 256


@dataclass(frozen=True)
class SourceSpec:
    """One ``[[source]]`` of a recipe; ``path`` is absolute, ``origin`` is as written."""

    name: str
    kind: str
    path: Path
    origin: str
    exclude: tuple[str, ...]
    licence: str
    lang: str


@dataclass(frozen=True)
class Dependency:
    """One ``[[dependency]]``: a package, its repository, and the source that covers it, or ''."""

    ecosystem: str
    package: str
    version: str
    repo: str
    source: str


@dataclass(frozen=True)
class Recipe:
    """What to compile, and into what."""

    path: Path
    name: str
    version: str
    title: str
    sources: tuple[SourceSpec, ...]
    model: str
    """A name of the registry, ``openai:NAME``, ``none``, or the absolute path of a folder."""
    carry: bool
    max_tokens: int
    dependencies: tuple[Dependency, ...] = ()
    address: str = ""
    """Where the site will live, with a slash at its end, or ''."""


def _keys(table: str) -> dict[str, str]:
    return {key: wanted for key, (wanted, _) in DOCUMENTED_KEYS[table].items()}


def read_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises:
        LorepackError: it is missing, is no TOML, or says something that is not understood; the
            message names the file, the line where it can, and the remedy.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except FileNotFoundError as error:
        raise LorepackError(f"{path} does not exist", "give the path of a recipe") from error
    except (OSError, UnicodeDecodeError) as error:
        raise LorepackError(f"{path} cannot be read ({error})", "check the file") from error
    except tomllib.TOMLDecodeError as error:
        raise LorepackError(f"{path} is not valid TOML", f"{error}") from error
    return _Reader(path, text).recipe(data)


@dataclass(frozen=True)
class _Reader:
    """Checks a recipe's values; knows its text, to name lines."""

    path: Path
    text: str

    def recipe(self, data: Mapping[str, Any]) -> Recipe:
        self.check(data, _TOP_KEYS, "the recipe")
        pack, site, embed, chunk = (data.get(key, {}) for key in ("pack", "site", "embed", "chunk"))
        self.check(site, _keys("[site]"), "[site]")
        self.check(pack, _keys("[pack]"), "[pack]")
        self.check(embed, _keys("[embed]"), "[embed]")
        self.check(chunk, _keys("[chunk]"), "[chunk]")
        name = self.required(pack, "name", "[pack]")
        if not NAME.fullmatch(name):
            raise self.error("name", f"[pack] name {name!r} is not a-z, 0-9 and -", "rename it")
        version = self.required(pack, "version", "[pack]")
        if not VERSION.fullmatch(version):
            raise self.error("version", f"[pack] version {version!r} cannot stand in a file name",
                             "use letters, digits and . + - _")  # fmt: skip
        sources = tuple(self.source(entry) for entry in data.get("source", []))
        if not sources:
            raise self.error("source", "the recipe has no [[source]]", "add one")
        for entry in data.get("eval", []):
            self.check(entry, _keys("[[eval]]"), "[[eval]]")
            self.required(entry, "query", "[[eval]]")
            self.required(entry, "expect", "[[eval]]")
        self.check_unique([source.name for source in sources])
        listed = data.get("dependency", [])
        dependencies = tuple(self.dependency(entry, sources) for entry in listed)
        model = self.model(embed.get("model", DEFAULT_MODEL))
        carry = embed.get("carry", False)
        if carry and (model == NO_MODEL or model.startswith(OPENAI)):
            raise self.error("carry", f"[embed] carry: {model!r} cannot be carried",
                             "leave carry out")  # fmt: skip
        max_tokens = chunk.get("max_tokens", DEFAULT_MAX_TOKENS)
        if not 32 <= max_tokens <= 512:
            raise self.error("max_tokens", f"[chunk] max_tokens is {max_tokens}", "use 32 to 512")
        title = pack.get("title", name)
        return Recipe(
            self.path, name, version, title, sources, model, carry, max_tokens, dependencies,
            self.address(site.get("url", "")),
        )  # fmt: skip

    def address(self, url: str) -> str:
        if url and not re.fullmatch(r"https?://[\w.:-]+(?:/[\w./~%-]*)?", url):
            raise self.error("url", f"[site] url {url!r} is no address of a site",
                             "write https://host/path/")  # fmt: skip
        return f"{url.rstrip('/')}/" if url else ""

    def dependency(self, entry: Any, sources: Sequence[SourceSpec]) -> Dependency:
        self.check(entry, _keys("[[dependency]]"), "[[dependency]]")
        ecosystem, package = (
            self.required(entry, key, "[[dependency]]") for key in ("ecosystem", "package")
        )
        source = entry.get("source", "")
        if source and source not in {known.name for known in sources}:
            raise self.error(source, f"[[dependency]] source {source!r} is none of the sources",
                             "name a source, or leave it out")  # fmt: skip
        version, repo = entry.get("version", ""), entry.get("repo", "")
        return Dependency(ecosystem, package, version, repo, source)

    def model(self, name: str) -> str:
        if name == NO_MODEL or (name.startswith(OPENAI) and len(name) > len(OPENAI)):
            return name
        folder = (self.path.parent / Path(name).expanduser()).absolute()
        if folder.is_dir():
            return str(folder)
        try:
            return find_model(name).id
        except LorepackError as error:
            raise self.error(name, error.message, error.remedy) from error

    def source(self, entry: Any) -> SourceSpec:
        if not isinstance(entry, dict):
            raise self.error("source", "source is not a table", "write it as [[source]]")
        self.check(entry, _keys("[[source]]"), "[[source]]")
        name = self.required(entry, "name", "[[source]]")
        if not NAME.fullmatch(name):
            raise self.error(name, f"source name {name!r} is not a-z, 0-9 and -", "rename it")
        kind = self.required(entry, "kind", "[[source]]")
        if kind not in KINDS:
            raise self.error(
                kind, f"source kind {kind!r} is not known", f"use {' or '.join(KINDS)}"
            )
        origin = self.required(entry, "path", "[[source]]")
        path = (self.path.parent / Path(origin).expanduser()).absolute()
        if not path.is_dir():
            raise self.error(origin, f"source {name!r}: {path} is no folder", "correct its path")
        exclude = entry.get("exclude", [])
        if not all(isinstance(pattern, str) for pattern in exclude):
            raise self.error("exclude", "exclude holds more than texts", "write patterns as text")
        return SourceSpec(
            name,
            kind,
            path,
            origin,
            tuple(exclude),
            entry.get("licence", ""),
            entry.get("lang", ""),
        )

    def check(self, table: Any, keys: Mapping[str, str], where: str) -> None:
        if not isinstance(table, dict):
            raise self.error(where.strip("[]"), f"{where} is not a table", f"write it as {where}")
        for key, value in table.items():
            if key not in keys:
                known = ", ".join(keys)
                raise self.error(key, f"{where} has no key {key!r}", f"use one of {known}")
            wanted = keys[key]
            if type(value) is not _TYPES[wanted]:
                raise self.error(key, f"{where} {key} is not {wanted}", f"write {wanted}")

    def required(self, table: Mapping[str, Any], key: str, where: str) -> str:
        if not table.get(key):
            raise self.error(where, f"{where} has no {key}", f"add {key} = …")
        return str(table[key])

    def check_unique(self, names: list[str]) -> None:
        for name in names:
            if names.count(name) > 1:
                raise self.error(name, f"two sources are called {name!r}", "rename one")

    def error(self, word: str, message: str, remedy: str) -> LorepackError:
        pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        for number, line in enumerate(self.text.split("\n"), 1):
            if pattern.search(line):
                return LorepackError(f"{self.path}, line {number}: {message}", remedy)
        return LorepackError(f"{self.path}: {message}", remedy)
