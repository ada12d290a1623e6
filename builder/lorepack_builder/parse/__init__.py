"""Parse: one file → one page, with everything that later stages need to know of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from lorepack.text.comments import strip_comments
from lorepack.text.language import guess_language
from lorepack_builder.acquire.documents import CODE_LANGUAGES, CONVERTED, MARKDOWN, layout_of
from lorepack_builder.convert.decode import decode
from lorepack_builder.model import Diagram, Finding, Link, Page, SourceFile
from lorepack_builder.parse.admonitions import convert_admonitions
from lorepack_builder.parse.canvas import read_canvas
from lorepack_builder.parse.code import read_code
from lorepack_builder.parse.dates import iso_moment
from lorepack_builder.parse.extract import Extract, extract
from lorepack_builder.parse.frontmatter import (
    Frontmatter,
    Properties,
    as_list,
    as_text,
    read_frontmatter,
)
from lorepack_builder.parse.markdown.parser import parse_tokens
from lorepack_builder.parse.markdown.tags import is_tag
from lorepack_builder.parse.mentions import page_number, wiki_mentions
from lorepack_builder.parse.notebook import notebook_markdown
from lorepack_builder.parse.rst import rst_to_markdown
from lorepack_builder.recipe.settings import TOOL_KEYS

_BY_PEOPLE = frozenset({"vault", "folder", "notion"})
"""Layouts whose Markdown has Obsidian's tags and comments."""
SUMMARY_LIMIT = 200
CREATED_KEYS = ("created", "date created", "date")
UPDATED_KEYS = ("updated", "modified", "last", "date modified")
"""Properties that tell when a page was written and changed."""
LIFECYCLES = frozenset({"draft", "verified", "archived", "disputed"})
_CITE = re.compile(r"^[ \t]*</?cite>[ \t]*$", re.MULTILINE)
_VIEW_NAME = re.compile(r"^ {2,}(?:- )?name:[ \t]*(\S.*)$", re.MULTILINE)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})

Parsed = tuple[Page | None, list[Finding]]


def parse_file(file: SourceFile) -> Parsed:
    """Read and parse one file of which `is_page` holds.

    Returns:
        The page, or None for one that cannot be read or asks to be left out (``draft: true``,
        ``publish: false``), and what was odd about it.
    """
    try:
        data = file.disk.read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        return None, [Finding("unreadable", "error", file.path, 1, message, "check the file")]
    return parse_data(file, data)


def parse_data(file: SourceFile, data: bytes) -> Parsed:
    """Parse ``data``, the content of a file; see `parse_file`."""
    decoded = decode(data)
    odd = [
        Finding("bad-text", "warning", file.path, line, what, "save the file as UTF-8")
        for line, what in decoded.problems
    ]
    suffix = PurePosixPath(file.path).suffix.lower()
    read = _READERS.get(suffix) or (_read_code if suffix in CODE_LANGUAGES else _read_text)
    try:
        page, more = read(file, data, decoded.text)
    except (ValueError, RecursionError) as error:
        return None, [*odd, _refusal(file, suffix, error)]
    if page and (file.mentions or layout_of(file) == "codewiki"):
        page = _with_wiki_facts(page, file)
    return page, odd + more


def _refusal(file: SourceFile, suffix: str, error: Exception) -> Finding:
    """Say why a file is no page; code that a program made, or a template, is no fault."""
    if suffix in CODE_LANGUAGES or suffix.startswith(".htm"):
        return Finding("left-out", "info", file.path, 1, f"is left out: it {error}")
    form = suffix.lstrip(".") or "text"
    message = f"is no {form} that can be read ({error})"
    return Finding("bad-file", "error", file.path, 1, message, "save it anew, or exclude it")


def _read_text(file: SourceFile, data: bytes, text: str) -> Parsed:
    return _page(file, data, Frontmatter({}, "", text, 1)), []


def _read_canvas(file: SourceFile, data: bytes, text: str) -> Parsed:
    body, diagram = read_canvas(text)
    return _page(file, data, Frontmatter({}, "", body, 1), (diagram,)), []


def _read_base(file: SourceFile, data: bytes, text: str) -> Parsed:
    # The fence stands on a line of its own before the file's first.
    shown = f"```yaml\n{text.rstrip()}\n```\n" if text.strip() else ""
    page = _page(file, data, Frontmatter({}, "", shown, 0))
    return replace(page, block_ids=_base_views(text)), []


def _read_rst(file: SourceFile, data: bytes, text: str) -> Parsed:
    converted = rst_to_markdown(text)
    page = _page(file, data, Frontmatter({}, "", converted.text, 1))
    labels = tuple((label, _anchor_at(page, line + 1)) for label, line in converted.labels)
    return replace(page, labels=labels), []


def _anchor_at(page: Page, line: int) -> str:
    """Return the anchor of the heading that begins at ``line`` or right below, or the one above."""
    below = [h.anchor for h in page.headings if line <= h.line <= line + 1]
    above = [h.anchor for h in page.headings if h.line < line]
    return (below[:1] or above[-1:] or [""])[0]


def _read_notebook(file: SourceFile, data: bytes, text: str) -> Parsed:
    body, _ = strip_comments(notebook_markdown(text), percent=False)
    return _page(file, data, Frontmatter({}, "", body, 1)), []


def _read_html(file: SourceFile, data: bytes, text: str) -> Parsed:
    # Its parser is not needed by most packs, and slow to import.
    from lorepack_builder.convert.html import read_html

    document = read_html(text)
    values: Properties = {"title": document.title, "lang": document.lang}
    page = _page(file, data, Frontmatter(values, "", document.markdown, 1))
    labels = [(id, page.headings[n].anchor) for id, n in document.ids if n < len(page.headings)]
    return replace(page, labels=tuple(labels), frontmatter="{}"), []


def _read_code(file: SourceFile, data: bytes, text: str) -> Parsed:
    code = read_code(file.path, text)
    page = _page(file, data, Frontmatter({}, "", "", 0))
    docs = "\n".join(filter(None, (code.doc, *(symbol.doc for symbol in code.symbols))))
    named = ", ".join(symbol.name for symbol in code.symbols if not symbol.parent)
    return replace(
        page,
        title=file.path.partition("/")[2],
        lang=file.source.lang or (guess_language(docs) if len(docs) > 200 else "en"),
        summary=_shorten(" ".join((code.doc or named).split())),
        body=code.fence,
        headings=code.headings,
        code=code.language,
        symbols=code.symbols,
    ), []


def _read_markdown(file: SourceFile, data: bytes, text: str) -> Parsed:
    front = read_frontmatter(text)
    findings = [
        Finding(
            "bad-frontmatter", "warning", file.path, line, f"frontmatter {what}", "mend the YAML"
        )
        for line, what in front.problems
    ]
    if _left_out(front.values):
        return None, findings
    by_people = layout_of(file) in _BY_PEOPLE
    body, unclosed = strip_comments(front.body, percent=by_people)
    if unclosed is not None:
        line = front.body_line + unclosed
        message = "a comment never closes and hides the rest of the page"
        findings.append(Finding("open-comment", "warning", file.path, line, message, "close it"))
    if layout_of(file) in ("repo", "folder"):
        body = convert_admonitions(body)
    elif layout_of(file) == "codewiki":
        # Qoder's element would make the list of links in it raw HTML.
        body = _CITE.sub("", body)
    clean = Frontmatter(front.values, front.raw, body, front.body_line)
    return _page(file, data, clean), findings


_READERS = {
    **dict.fromkeys(MARKDOWN, _read_markdown), ".canvas": _read_canvas, ".base": _read_base,
    ".rst": _read_rst, ".rest": _read_rst, ".ipynb": _read_notebook, ".html": _read_html,
    ".htm": _read_html,
}  # fmt: skip


def _with_wiki_facts(page: Page, file: SourceFile) -> Page:
    """Add what a generated wiki cites in its own forms, and the number that its links use."""
    mentions = {(m.text, m.lines): m for m in (*file.mentions, *wiki_mentions(page.links))}
    plain = [m for m in page.mentions if (m.text, m.lines) not in mentions]
    number = page_number(page.path)
    labels = ((number, ""),) if number else ()
    return replace(page, mentions=(*mentions.values(), *plain), labels=(*page.labels, *labels))


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
    tags = _tags(values, found, inline=layout_of(file) in _BY_PEOPLE)
    return Page(
        source=file.source,
        path=file.path,
        title=_title(file, values, found),
        lang=(lang or guess_language(front.body)).replace("_", "-").split("-")[0].lower(),
        tags=tuple(dict.fromkeys(tags)),
        aliases=tuple(dict.fromkeys(_named_list(values, "aliases", "alias"))),
        summary=_shorten(_first_text(values, "description", "summary") or found.opening),
        lifecycle=_lifecycle(values),
        tool=written_by(values, TOOL_KEYS),
        created=iso_moment(_first_text(values, *CREATED_KEYS)),
        updated=iso_moment(_first_text(values, *UPDATED_KEYS)),
        frontmatter=json.dumps(values, ensure_ascii=False, sort_keys=True),
        properties=front.raw.strip("\n"),
        body=front.body,
        body_line=front.body_line,
        hash=hashlib.sha256(data).hexdigest(),
        headings=tuple(found.headings),
        links=(*found.links, *_related(file)),
        tag_lines=tuple(found.tags),
        blocks=tuple(found.blocks),
        block_ids=tuple(found.block_ids),
        diagrams=(*diagrams, *found.diagrams),
        mentions=tuple(found.mentions.values()),
    )


def _title(file: SourceFile, values: Properties, found: Extract) -> str:
    """A vault's notes are called what their files are; elsewhere a first heading names a page."""
    given = as_text(values.get("title"))
    first = next((h.text for h in found.headings if h.level == 1), "")
    stem = PurePosixPath(file.path).name
    for suffix in (*MARKDOWN, *CONVERTED, ".txt"):
        stem = stem.removesuffix(suffix)
    return given or (first if layout_of(file) != "vault" else "") or stem


def _related(file: SourceFile) -> Iterator[Link]:
    """Links that stand in no text come after those that do."""
    root = f"{file.source.name}/"
    yield from (Link("markdown", f"/{p.removeprefix(root)}", "", "", 1) for p in file.related)


def _tags(values: Properties, found: Extract, *, inline: bool) -> Iterator[str]:
    for tag in _named_list(values, "tags", "tag"):
        yield from (part for word in tag.split() if (part := word.strip("#/")) and is_tag(part))
    if inline:
        yield from (tag for tag, _ in found.tags)


def _named_list(values: Properties, *names: str) -> list[str]:
    return [item for name in names for item in as_list(values.get(name))]


def written_by(values: Properties, keys: Sequence[str]) -> str:
    """Return the AI tools, ``a, b``, that the first of ``keys`` with any names; '' if none does."""
    named = (", ".join(dict.fromkeys(as_list(values.get(key)))) for key in keys)
    return next((tools for tools in named if tools), "")[:80]


def _first_text(values: Properties, *names: str) -> str:
    return next((text for name in names if (text := as_text(values.get(name)))), "")


def _lifecycle(values: Properties) -> str:
    said: Any = values.get("lifecycle") or values.get("status")
    text = as_text(said).lower()
    return text if text in LIFECYCLES else ""


def _shorten(text: str) -> str:
    if len(text) <= SUMMARY_LIMIT:
        return text
    cut = text[: SUMMARY_LIMIT - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[100:] else cut).rstrip(" ,;:") + "…"
