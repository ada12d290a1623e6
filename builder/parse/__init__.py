"""Parse: one file → one page, with everything that later stages need to know of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from lorepack.builder.model import Diagram, Finding, Page, SourceFile
from lorepack.builder.parse.canvas import read_canvas
from lorepack.builder.parse.decode import decode
from lorepack.builder.parse.extract import Extract, extract
from lorepack.builder.parse.frontmatter import (
    Frontmatter,
    Properties,
    as_list,
    as_text,
    read_frontmatter,
)
from lorepack.builder.parse.markdown.comments import strip_comments
from lorepack.builder.parse.markdown.parser import parse_tokens
from lorepack.builder.parse.markdown.tags import is_tag
from lorepack.packfile.language import guess_language

PAGE_SUFFIXES = frozenset({".md", ".markdown", ".canvas", ".base", ".txt"})
SUMMARY_LIMIT = 200
_VIEW_NAME = re.compile(r"^ {2,}(?:- )?name:[ \t]*(\S.*)$", re.MULTILINE)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_LIFECYCLES = frozenset({"draft", "verified", "archived", "disputed"})
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def parse_file(file: SourceFile) -> tuple[Page | None, list[Finding]]:
    """Read and parse one file of `PAGE_SUFFIXES`.

    Returns:
        The page, or None for one that cannot be read or asks to be left out (``draft: true``,
        ``publish: false``), and what was odd about it.
    """
    try:
        data = file.disk.read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        return None, [Finding("unreadable", "error", file.path, 1, message, "check the file")]
    decoded = decode(data)
    findings = [
        Finding("bad-text", "warning", file.path, line, what, "save the file as UTF-8")
        for line, what in decoded.problems
    ]
    suffix = PurePosixPath(file.path).suffix.lower()
    if suffix == ".canvas":
        try:
            text, diagram = read_canvas(decoded.text)
        except (ValueError, RecursionError) as error:
            message = f"is no canvas that can be read ({error})"
            return None, [*findings, Finding("bad-canvas", "error", file.path, 1, message)]
        return _page(file, data, Frontmatter({}, "", text, 1), (diagram,)), findings
    if suffix == ".base":
        views = _base_views(decoded.text)
        # The fence stands on a line of its own before the file's first.
        shown = f"```yaml\n{decoded.text.rstrip()}\n```\n" if decoded.text.strip() else ""
        return replace(_page(file, data, Frontmatter({}, "", shown, 0)), block_ids=views), findings
    if suffix == ".txt":
        return _page(file, data, Frontmatter({}, "", decoded.text, 1)), findings
    front = read_frontmatter(decoded.text)
    findings += (
        Finding(
            "bad-frontmatter", "warning", file.path, line, f"frontmatter {what}", "mend the YAML"
        )
        for line, what in front.problems
    )
    if _left_out(front.values):
        return None, findings
    body, unclosed = strip_comments(front.body)
    if unclosed is not None:
        line = front.body_line + unclosed
        message = "a comment never closes and hides the rest of the page"
        findings.append(Finding("open-comment", "warning", file.path, line, message, "close it"))
    clean = Frontmatter(front.values, front.raw, body, front.body_line)
    return _page(file, data, clean), findings


def _base_views(text: str) -> tuple[tuple[str, int], ...]:
    """Return the views that links into a base name, with their lines."""
    found = ((m.group(1), text.count("\n", 0, m.start()) + 1) for m in _VIEW_NAME.finditer(text))
    return tuple((name.strip(" \"'"), line) for name, line in found)


def _left_out(values: Properties) -> bool:
    return (
        as_text(values.get("draft")).lower() in _TRUE
        or as_text(values.get("publish")).lower() in _FALSE
    )


def _page(
    file: SourceFile, data: bytes, front: Frontmatter, diagrams: tuple[Diagram, ...] = ()
) -> Page:
    found = extract(parse_tokens(front.body), front.body_line)
    values = front.values
    said = as_text(values.get("lang") or values.get("language"))
    lang = said if _LANGUAGE_TAG.fullmatch(said) else file.source.lang
    tags = _tags(values, found)
    return Page(
        source=file.source,
        path=file.path,
        title=_title(file, values, found),
        lang=(lang or guess_language(front.body)).replace("_", "-").split("-")[0].lower(),
        tags=tuple(dict.fromkeys(tags)),
        aliases=tuple(dict.fromkeys(_named_list(values, "aliases", "alias"))),
        summary=_shorten(_first_text(values, "description", "summary") or found.opening),
        lifecycle=_lifecycle(values),
        tool=_first_text(values, "tool", "ai_tool", "agent", "generator")[:80],
        created=_first_text(values, "created", "date created", "date")[:40],
        updated=_first_text(values, "updated", "modified", "last", "date modified")[:40],
        frontmatter=json.dumps(values, ensure_ascii=False, sort_keys=True),
        properties=front.raw.strip("\n"),
        body=front.body,
        body_line=front.body_line,
        hash=hashlib.sha256(data).hexdigest(),
        headings=tuple(found.headings),
        links=tuple(found.links),
        tag_lines=tuple(found.tags),
        blocks=tuple(found.blocks),
        block_ids=tuple(found.block_ids),
        diagrams=(*diagrams, *found.diagrams),
    )


def _title(file: SourceFile, values: Properties, found: Extract) -> str:
    """A vault's notes are called what their files are; elsewhere a first heading names a page."""
    given = as_text(values.get("title"))
    first = next((h.text for h in found.headings if h.level == 1), "")
    stem = PurePosixPath(file.path).name
    for suffix in (".md", ".markdown", ".txt"):
        stem = stem.removesuffix(suffix)
    return given or (first if file.source.kind != "vault" else "") or stem


def _tags(values: Properties, found: Extract) -> Iterator[str]:
    for tag in _named_list(values, "tags", "tag"):
        yield from (part for word in tag.split() if (part := word.strip("#/")) and is_tag(part))
    yield from (tag for tag, _ in found.tags)


def _named_list(values: Properties, *names: str) -> list[str]:
    return [item for name in names for item in as_list(values.get(name))]


def _first_text(values: Properties, *names: str) -> str:
    return next((text for name in names if (text := as_text(values.get(name)))), "")


def _lifecycle(values: Properties) -> str:
    said: Any = values.get("lifecycle") or values.get("status")
    text = as_text(said).lower()
    return text if text in _LIFECYCLES else ""


def _shorten(text: str) -> str:
    if len(text) <= SUMMARY_LIMIT:
        return text
    cut = text[: SUMMARY_LIMIT - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[100:] else cut).rstrip(" ,;:") + "…"
