"""A file of code → a page: its text in a fence, a heading for each thing that it defines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lorepack_builder.convert.anchors import unique_anchors
from lorepack_builder.model import Heading, Symbol
from lorepack_builder.parse.code.languages import GRAMMARS, language_of
from lorepack_builder.parse.code.symbols import Definition, find_definitions
from lorepack_builder.parse.markdown.fence import fenced

MAX_BYTES = 1_000_000
_LONG_LINE = 5_000
_GENERATED = re.compile(r"(?:@generated|DO NOT EDIT|automatically generated)", re.IGNORECASE)


@dataclass(frozen=True)
class CodeFile:
    """A file of code, read. ``fence`` is its text as Markdown, from the line before its first."""

    language: str
    fence: str
    doc: str
    headings: tuple[Heading, ...]
    symbols: tuple[Symbol, ...]


def read_code(path: str, text: str) -> CodeFile:
    """Read a file of `CODE_LANGUAGES`.

    Raises:
        ValueError: it is too large, or made by a program; the text says which.
    """
    if len(text) > MAX_BYTES:
        raise ValueError(f"is larger than {MAX_BYTES // 1000} kB")
    if max(map(len, text.split("\n"))) > _LONG_LINE:
        raise ValueError(f"has lines of more than {_LONG_LINE} characters, as minified code has")
    if _GENERATED.search(text[:2_000]) and text.count("\n") > 500:
        raise ValueError("says that a program made it")
    language = language_of(path, text)
    doc, found = find_definitions(text, language)
    names = {definition.name for definition in found}
    levels = [min(6, 2 + _depth(definition.name, names)) for definition in found]
    anchors = unique_anchors([d.name.replace(".", "-") for d in found], levels)
    headings = tuple(
        Heading(level, _short_name(definition), anchor, definition.start)
        for definition, level, anchor in zip(found, levels, anchors, strict=True)
    )
    symbols = tuple(
        Symbol(d.name, d.kind, d.signature, d.first_line, d.last_line, d.doc, anchor, d.parent)
        for d, anchor in zip(found, anchors, strict=True)
    )
    return CodeFile(language, _block(text, GRAMMARS[language].fence), doc, headings, symbols)


def _depth(name: str, names: set[str]) -> int:
    """Return how many of ``names`` this one stands in."""
    depth = 0
    while "." in name:
        name = name.rpartition(".")[0]
        depth += name in names
    return depth


def _short_name(definition: Definition) -> str:
    return (
        definition.name.removeprefix(f"{definition.parent}.")
        if definition.parent
        else (definition.name)
    )


def _block(text: str, language: str) -> str:
    block = fenced(text.rstrip("\n"), language)
    return f"{block}\n" if block else ""
