"""What a tool answers, and how document text is set apart in it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lorepack.packfile.comments import strip_comments
from lorepack.packfile.hidden import without_hidden
from lorepack.server.mount import Mount
from lorepack.server.retrieve.cite import citation_url
from lorepack.server.retrieve.rerank import Reranker

CURSOR: Mapping[str, Any] = {"type": "string", "pattern": "^[0-9]{1,9}$"}
"""Where a list goes on: the ``nextCursor`` of the answer before."""

_TILDES = re.compile(r"~{3,}")


@dataclass(frozen=True)
class Context:
    """The pack that is asked, where its site is (with a final slash) or '', and who reranks.

    ``shares_disk`` says that the client is on this machine, so that ``roots``, the folders it works
    in, may be read.
    """

    mount: Mount
    site_url: str = ""
    reranker: Reranker | None = None
    shares_disk: bool = False
    roots: tuple[Path, ...] = ()

    def cite(self, page: sqlite3.Row, anchor: str = "") -> str:
        """Return the address of a page (a row with ``path`` and ``url``), or of a place in it."""
        return citation_url(self.mount, self.site_url, page, anchor)


@dataclass(frozen=True)
class ToolAnswer:
    """``text`` is complete by itself; ``data`` is the same without long texts."""

    text: str
    data: Mapping[str, Any]
    is_error: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """A tool: name, when to use it, JSON Schemas of its input and output, and what runs it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    run: Callable[[Context, Mapping[str, Any]], ToolAnswer]
    reads_roots: bool = False


def document(text: str) -> str:
    """Return a page's text as agents get it: without comments, which no reader of the page sees."""
    return strip_comments(text, percent=False)[0]


def fenced(text: str) -> str:
    """Return `document` of ``text`` between tildes that it cannot close: more than it has."""
    text = document(text)
    longest = max((len(run) for run in _TILDES.findall(text)), default=2)
    fence = "~" * max(4, longest + 1)
    return f"{fence}document\n{text}\n{fence}"


def seen(answer: ToolAnswer) -> ToolAnswer:
    """Return ``answer`` without characters that its reader cannot see."""
    return ToolAnswer(without_hidden(answer.text), _seen(answer.data), answer.is_error)


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, Mapping):
        return {_seen(key): _seen(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(inner) for inner in value]
    return value


def tokens_of(text: str) -> int:
    """Return about how many tokens ``text`` has, rather too many: one for three bytes of UTF-8."""
    return len(text.encode()) // 3 + 1


def fitting(lines: Sequence[str], max_tokens: int) -> int:
    """Return how many of ``lines`` fit in a budget, from the first on; at least one if any."""
    left = max_tokens
    for number, line in enumerate(lines):
        left -= tokens_of(line)
        if left < 0:
            return max(number, 1)
    return len(lines)


def next_cursor(begin: int, shown: int, total: int) -> str | None:
    """Return the cursor of what follows the items shown; None at the end."""
    return str(begin + shown) if begin + shown < total else None


def stamp(mount: Mount) -> dict[str, str]:
    """Return which pack answered, for every structured answer."""
    return {"pack": mount.name, "version": mount.version, "digest": mount.digest[:16]}


def listed(
    context: Context, arguments: Mapping[str, Any], key: str, entries: Sequence[Mapping[str, Any]],
    line: Callable[[Mapping[str, Any]], str], nothing: str = "nothing found", *, head: str = "",
    limit: int = 100, **data: Any,
) -> ToolAnswer:  # fmt: skip
    """Return one screen of a list: ``entries`` under ``key``, and a line of text for each.

    ``cursor``, ``limit`` and ``maxTokens`` of the arguments say where it begins and ends.

    Args:
        nothing: said of an empty list.
        head: the first line of the text, of an empty list too.
        limit: of entries, where the arguments name none.
    """
    begin = int(arguments.get("cursor", "0"))
    screen = entries[begin : begin + arguments.get("limit", limit)]
    lines = [line(entry) for entry in screen]
    count = fitting(lines, arguments.get("maxTokens", 3000))
    following = next_cursor(begin, count, len(entries))
    answer = {
        **stamp(context.mount), "status": "ok" if entries else "no_match", **data,
        "total": len(entries), key: list(screen[:count]), "nextCursor": following,
    }  # fmt: skip
    if not head:
        head = f"{len(entries)} {key}" if entries else f"{answer['status']}: {nothing}"
    more = [f"More with cursor {following}"] if following else []
    return ToolAnswer("\n".join([head, *lines[:count], *more]), answer)


def budget(default: int) -> dict[str, Any]:
    """Return the schema of ``maxTokens``."""
    return {"type": "integer", "minimum": 50, "maximum": 100_000, "default": default}


LIST: Mapping[str, Any] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 100},
    "cursor": CURSOR,
    "maxTokens": budget(3000),
}
"""What every tool takes that answers with a list."""


def error(code: str, message: str, details: Mapping[str, Any] | None = None) -> ToolAnswer:
    """Return a hard error in the one form that all tools share."""
    body = {"code": code, "message": message, "details": dict(details or {})}
    return ToolAnswer(f"Error {code}: {message}", {"success": False, "error": body}, True)


def object_schema(properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a JSON Schema of an object that refuses unknown keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def output_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer: its stamp, a status and ``properties``."""
    text = {"type": "string"}
    common = {"pack": text, "version": text, "digest": text, "status": text}
    return {"type": "object", "properties": {**common, **properties}}
