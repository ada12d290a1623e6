"""Recipes: what to compile, as TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from lorepack.errors import LorepackError
from lorepack.models.registry import DEFAULT_MODEL, NO_MODEL, OPENAI, find_model
from lorepack.pack.format import NAME, VERSION
from lorepack_builder.recipe.addresses import is_git_url, without_credentials
from lorepack_builder.recipe.keys import DOCUMENTED_KEYS
from lorepack_builder.recipe.settings import TOOL_KEYS, LintSettings, lint_problem

KINDS = ("vault", "folder", "repo", "archive", "notion", "codewiki")
LAYOUTS = ("vault", "folder", "repo", "notion", "codewiki")
_TOP_KEYS = {
    "pack": "a table", "site": "a table", "source": "a list", "dependency": "a list",
    "embed": "a table", "chunk": "a table", "eval": "a list", "lint": "a table",
    "tags": "a table", "memory": "a table",
}  # fmt: skip
_TYPES: dict[str, type] = {
    "text": str, "a whole number": int, "a list": list, "a table": dict, "true or false": bool,
    "a date": date,
}  # fmt: skip
NOTION_LINKS = ("https://www.notion.so/", "https://notion.so/", "notion:")
"""How pages that are read through Notion's API are named; any other path is an export."""
DEFAULT_MAX_TOKENS = 256


@dataclass(frozen=True)
class SourceSpec:
    """One ``[[source]]`` of a recipe; ``path`` is absolute, ``origin`` is as written.

    A repository on the net has ``url``, and no ``path`` that means anything.
    """

    name: str
    kind: str
    path: Path
    origin: str
    exclude: tuple[str, ...] = ()
    licence: str = ""
    lang: str = ""
    include: tuple[str, ...] = ()
    url: str = ""
    ref: str = ""
    subdir: str = ""
    submodules: bool = False
    code: bool = True
    holds: str = ""
    repo: str = ""


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
    date: str = ""
    """The pack's own day, or ''."""
    lint: LintSettings = field(default_factory=LintSettings)
    taxonomy: str = ""
    """The page or the file that lists the tags allowed, as written."""
    tool_keys: tuple[str, ...] = TOOL_KEYS

    @property
    def taxonomy_file(self) -> Path:
        """Where the taxonomy lies if it is a file."""
        return self.path.parent / Path(self.taxonomy).expanduser()


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


def with_version(recipe: Recipe, version: str) -> Recipe:
    """Return ``recipe`` with another version. Raises `LorepackError` if it is none."""
    if not VERSION.fullmatch(version):
        raise LorepackError(
            f"version {version!r} cannot stand in a file name", "use letters, digits and . + - _"
        )
    return replace(recipe, version=version)


@dataclass(frozen=True)
class _Reader:
    """Checks a recipe's values; knows its text, to name lines."""

    path: Path
    text: str

    def recipe(self, data: Mapping[str, Any]) -> Recipe:
        self.check(data, _TOP_KEYS, "the recipe")
        pack, site, embed, chunk, lint, tags, memory = (
            self.table(data, key)
            for key in ("pack", "site", "embed", "chunk", "lint", "tags", "memory")
        )
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
            self.address(site.get("url", "")), str(pack.get("date", "")), self.lint(lint),
            tags.get("taxonomy", ""),
            tuple(self.texts(memory, "tool_keys", "names of properties") or TOOL_KEYS),
        )  # fmt: skip

    def table(self, data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        table: Mapping[str, Any] = data.get(key, {})
        self.check(table, _keys(f"[{key}]"), f"[{key}]")
        return table

    def texts(self, table: Mapping[str, Any], key: str, what: str) -> list[str]:
        listed: list[str] = table.get(key, [])
        if not all(isinstance(item, str) for item in listed):
            raise self.error(key, f"{key} holds more than texts", f"write {what} as text")
        return listed

    def lint(self, table: Mapping[str, Any]) -> LintSettings:
        if problem := lint_problem(table):
            raise self.error(*problem)
        return LintSettings(**table)

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
        live = kind == "codewiki" and "path" not in entry and "repo" in entry
        origin = entry["repo"] if live else self.required(entry, "path", "[[source]]")
        holds = entry.get("holds", "")
        if holds and holds not in LAYOUTS:
            raise self.error(holds, f"holds {holds!r} is not known", f"use {' or '.join(LAYOUTS)}")
        asked = live or (kind == "notion" and origin.startswith(NOTION_LINKS))
        url = origin if asked or (kind == "repo" and is_git_url(origin)) else ""
        path = (self.path.parent / Path(origin).expanduser()).absolute()
        if not url:
            self.check_path(name, kind, path, origin)
        return SourceSpec(
            name=name,
            kind=kind,
            path=path,
            origin=without_credentials(origin),
            exclude=tuple(self.texts(entry, "exclude", "patterns")),
            licence=entry.get("licence", ""),
            lang=entry.get("lang", ""),
            include=tuple(self.texts(entry, "include", "patterns")),
            url=url,
            ref=self.git_name(entry, "ref"),
            subdir=self.subdir(entry),
            submodules=entry.get("submodules", False),
            code=entry.get("code", True),
            holds=holds,
            repo=self.repo(entry),
        )

    def check_path(self, name: str, kind: str, path: Path, origin: str) -> None:
        if kind in ("vault", "folder", "repo") and not path.is_dir():
            raise self.error(origin, f"source {name!r}: {path} is no folder", "correct its path")
        if kind == "archive" and not path.is_file():
            raise self.error(origin, f"source {name!r}: {path} is no file", "correct its path")
        if not path.exists():
            raise self.error(origin, f"source {name!r}: {path} does not exist", "correct its path")

    def repo(self, entry: Mapping[str, Any]) -> str:
        text = str(entry.get("repo", ""))
        if text and not re.fullmatch(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", text):
            raise self.error("repo", f"[[source]] repo {text!r} is no repository",
                             "write owner/name")  # fmt: skip
        return text

    def git_name(self, entry: Mapping[str, Any], key: str) -> str:
        text = str(entry.get(key, ""))
        if text.startswith("-") or re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{", text):
            raise self.error(key, f"[[source]] {key} {text!r} is no name in git", "correct it")
        return text

    def subdir(self, entry: Mapping[str, Any]) -> str:
        text = str(entry.get("subdir", "")).strip("/")
        parts = text.split("/") if text else []
        if any(part in ("", ".", "..") for part in parts) or "\\" in text or "\0" in text:
            raise self.error("subdir", f"[[source]] subdir {text!r} leaves its source",
                             "write folder/folder")  # fmt: skip
        return text

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
