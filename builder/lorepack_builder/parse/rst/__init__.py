"""reStructuredText → Markdown, in which every line stands for the same line of the file.

docutils knows the language better, but not reliably on which line a thing stands, and none of
Sphinx' directives; citations, chunks and findings all name lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lorepack_builder.parse.rst.blocks import convert_blocks
from lorepack_builder.parse.rst.inline import Names, fold_name
from lorepack_builder.parse.rst.state import State, is_underline

_TARGET = re.compile(
    r"\.\. _(?P<name>`[^`]+`|[^:\s`][^:`]*|(?:[^:\\]|\\.)+):(?:\s+(?P<url>\S.*))?$"
)
_ANONYMOUS = re.compile(r"(?:\.\. __:|__) (?P<url>\S+)$")
_SUBSTITUTION = re.compile(r"\.\. \|(?P<name>[^|]+)\| (?:replace|unicode|date)::\s*(?P<text>.*)$")


@dataclass(frozen=True)
class Converted:
    """Markdown, and (label, line from 0) of what may be referred to from other documents."""

    text: str
    labels: tuple[tuple[str, int], ...]


def rst_to_markdown(text: str) -> Converted:
    """Convert a document. Never raises; what is not understood stays as text."""
    lines = text.expandtabs(8).split("\n")
    state = State(_collect(lines))
    converted = convert_blocks(lines, state, depth=0)
    return Converted("\n".join(converted), tuple(_label_lines(lines)))


def _collect(lines: list[str]) -> Names:
    """Find what the document names, anywhere in it, before it is used."""
    names = Names()
    for number, line in enumerate(lines):
        text = line.strip()
        if match := _TARGET.match(text):
            key = fold_name(match["name"].strip("`"))
            if url := match["url"]:
                names.urls[key] = url.strip()
            else:
                names.labels.add(key)
        elif match := _ANONYMOUS.match(text):
            names.anonymous.append(match["url"])
        elif match := _SUBSTITUTION.match(text):
            names.substitutions[match["name"]] = match["text"].strip()
        elif number + 1 < len(lines) and is_underline(lines[number + 1], line):
            names.headings.add(fold_name(text))
    for key, url in list(names.urls.items()):
        # A target may name another one.
        if url.endswith("_") and (other := names.urls.get(fold_name(url[:-1].strip("`")))):
            names.urls[key] = other
    return names


def _label_lines(lines: list[str]) -> list[tuple[str, int]]:
    """Return labels and the line of what follows them."""
    found: list[tuple[str, int]] = []
    waiting: list[str] = []
    for number, line in enumerate(lines):
        match = _TARGET.match(line.strip())
        if match and not match["url"]:
            waiting.append(fold_name(match["name"].strip("`")))
        elif line.strip() and waiting:
            found += [(label, number) for label in waiting]
            waiting = []
    return found
