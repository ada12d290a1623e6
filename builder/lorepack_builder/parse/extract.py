"""Read headings, links, tags, blocks and diagrams off a page's tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from lorepack_builder.convert.anchors import inline_text
from lorepack_builder.model import Block, Diagram, Heading, Link, Mention
from lorepack_builder.parse.mentions import read_mention
from lorepack_builder.parse.mermaid import parse_mermaid

_BREAKS = ("softbreak", "hardbreak")
_SPLIT_INTO = frozenset({"bullet_list", "ordered_list", "blockquote", "callout"})


@dataclass
class Extract:
    """Everything found on a page; lines are the file's."""

    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[tuple[str, int]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    block_ids: list[tuple[str, int]] = field(default_factory=list)
    diagrams: list[Diagram] = field(default_factory=list)
    mentions: dict[str, Mention] = field(default_factory=dict)
    opening: str = ""
    """The text of the first paragraph."""


def extract(tokens: list[Token], body_line: int) -> Extract:
    """Walk ``tokens`` once. ``body_line`` is the body's first line in the file."""
    found = Extract()
    line = body_line
    for index, token in enumerate(tokens):
        if token.map:
            line = body_line + token.map[0]
        if token.attrs:
            _note_block_id(found, token, line)
        if token.type == "heading_open":
            text = inline_text(tokens[index + 1])
            anchor, level = str(token.attrGet("id")), int(token.tag[1])
            found.headings.append(Heading(level, text, anchor, line, token.level == 0))
        elif token.type == "inline":
            _read_inline(found, token, line)
            if (
                not found.opening
                and token.level == 1
                and tokens[index - 1].type == "paragraph_open"
            ):
                found.opening = inline_text(token)
        elif token.type == "fence" and token.info.strip().lower().startswith("mermaid"):
            diagram = parse_mermaid(token.content, line + 1)
            if diagram:
                found.diagrams.append(diagram)
        if token.level == 0 and token.nesting >= 0 and token.map and not token.hidden:
            block = _block(tokens, index, body_line)
            if block:
                found.blocks.append(block)
    return found


def _note_block_id(found: Extract, token: Token, line: int) -> None:
    name = token.meta.get("block_id") or token.attrGet("id")
    if isinstance(name, str) and name.startswith("^"):
        found.block_ids.append((name, line))


def _read_inline(found: Extract, token: Token, line: int) -> None:
    children = token.children or []
    for index, child in enumerate(children):
        kind = child.type
        if kind in _BREAKS:
            line += 1
        elif kind == "wikilink":
            meta = child.meta
            found.links.append(
                Link(
                    "wikilink", meta["target"], meta["fragment"], meta["label"], line, meta["embed"]
                )
            )
        elif kind == "code_inline":
            if mention := read_mention(child.content, line):
                found.mentions.setdefault(mention.text, mention)
        elif kind == "tag":
            found.tags.append((child.content, line))
        elif kind == "link_open" and child.info != "auto":
            label = "".join(c.content for c in _until_close(children, index))
            found.links.append(_markdown_link(str(child.attrGet("href") or ""), label, line, False))
        elif kind == "image":
            found.links.append(
                _markdown_link(str(child.attrGet("src") or ""), child.content, line, True)
            )


def _until_close(children: list[Token], index: int) -> Iterator[Token]:
    for child in children[index + 1 :]:
        if child.type == "link_close":
            return
        yield child


def _markdown_link(href: str, label: str, line: int, embed: bool) -> Link:
    """Keep a web address whole; decode a path and its fragment."""
    if is_external(href):
        return Link("markdown", href, "", label, line, embed)
    path, _, fragment = href.partition("#")
    return Link("markdown", unquote(path), unquote(fragment), label, line, embed)


def is_external(href: str) -> bool:
    """Say whether ``href`` has a scheme or a host of its own."""
    if href.startswith("//"):
        return True
    try:
        return len(urlsplit(href).scheme) > 1
    except ValueError:
        return True


def _block(tokens: list[Token], index: int, body_line: int) -> Block | None:
    """Return the top-level block that opens at ``index``; footnotes are gathered from elsewhere."""
    token = tokens[index]
    kind = token.type.removesuffix("_open")
    if kind == "footnote_block" or token.map is None:
        return None
    first, end = token.map
    if kind == "table":
        # Head and dashes belong together; then each row is a line.
        parts: tuple[int, ...] = (first, *range(first + 2, end))
    else:
        parts = _inner_starts(tokens, index) if kind in _SPLIT_INTO else ()
    lines = tuple(body_line + part for part in parts)
    return Block(kind, body_line + first, body_line + max(first, end - 1), lines)


def _inner_starts(tokens: list[Token], index: int) -> tuple[int, ...]:
    """Return the first lines of the blocks right below the one that opens at ``index``."""
    opening = tokens[index]
    first, end = opening.map or (0, 0)
    starts: dict[int, None] = {first: None}
    for position in range(index + 1, len(tokens)):
        token = tokens[position]
        if token.level == opening.level and token.nesting == -1:
            break
        if token.level == opening.level + 1 and token.nesting >= 0 and token.map:
            starts[token.map[0]] = None
    return tuple(start for start in sorted(starts) if start < end)
