"""What a tool answers, and how document text is set apart in it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lorepack.text.comments import strip_comments
from lorepack.text.invisible import without_hidden
from lorepack_server.retrieve.citations import citation_base, citation_url
from lorepack_server.tools.arguments import (
    Arguments,
    ArgumentsError,
    Paged,
    input_schema,
    read_arguments,
)
from lorepack_server.tools.budget import budget_of, fill

if TYPE_CHECKING:
    from lorepack_server.packs.mount import Mount
    from lorepack_server.retrieve.rerank import Reranker

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

    @property
    def label(self) -> str:
        """The pack and its version, for answers."""
        return f"{self.mount.name} {self.mount.version}"

    @property
    def logged(self) -> dict[str, str]:
        """What a line in the log says of what is asked."""
        return {"pack": self.mount.name, "version": self.mount.version}

    def with_roots(self, roots: tuple[Path, ...]) -> Context:
        """Return the same for a client that works in ``roots``."""
        return replace(self, roots=roots)

    @property
    def cited_below(self) -> str:
        """What a reader puts before the short citations of an answer."""
        return f"citations are below {citation_base(self.mount, self.site_url)}"

    def cite(self, page: sqlite3.Row, anchor: str = "") -> str:
        """Return the address of a page (a row with ``path`` and ``url``), or of a place in it."""
        return citation_url(self.mount, self.site_url, page, anchor)


@dataclass(frozen=True)
class ToolAnswer:
    """``text`` is complete by itself; ``data`` is the same for programs."""

    text: str
    data: Mapping[str, Any]
    is_error: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """A tool: name, what it is for, its arguments, and what runs it.

    ``description`` holds ``{pack}`` where the pack's name goes; its first 160 characters say what
    the tool is for, as some clients cut there. ``run`` takes a `Context` (or what its server makes
    of one) and arguments of the model.
    """

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any, Any], ToolAnswer]
    reads_roots: bool = False

    def call(self, context: Any, sent: Mapping[str, Any]) -> ToolAnswer:
        """Answer a call with arguments as a caller sent them; wrong ones are an error."""
        try:
            arguments, notes = read_arguments(self.arguments, sent)
        except ArgumentsError as wrong:
            return error("invalid_arguments", str(wrong))
        answer = self.run(context, arguments)
        return replace(answer, text="\n".join([answer.text, *notes])) if notes else answer

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return input_schema(self.arguments)


def document(text: str) -> str:
    """Return a page's text as agents get it: without comments, which no reader of the page sees."""
    return strip_comments(text, percent=False)[0]


def fenced(text: str) -> str:
    """Return `document` of ``text`` between tildes that it cannot close: more than it has."""
    text = document(text)
    longest = max((len(run) for run in _TILDES.findall(text)), default=2)
    fence = "~" * max(4, longest + 1)
    return f"{fence}document\n{text}\n{fence}"


def without_invisible(answer: ToolAnswer) -> ToolAnswer:
    """Return ``answer`` without characters that its reader cannot see."""
    return ToolAnswer(without_hidden(answer.text), _visible(answer.data), answer.is_error)


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, Mapping):
        return {_visible(key): _visible(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(inner) for inner in value]
    return value


def next_cursor(begin: int, shown: int, total: int) -> str | None:
    """Return the cursor of what follows the items shown; None at the end."""
    return str(begin + shown) if begin + shown < total else None


def more_line(left: int, what: str, cursor: str | None) -> str:
    """Return the line on what an answer leaves out, and the call that gets it; '' for nothing."""
    if cursor is None:
        return ""
    return f'{left} more {what}: call again with cursor "{cursor}".'


def pack_identity(mount: Mount) -> dict[str, str]:
    """Return which pack answered, for every answer to a program."""
    return {"pack": mount.name, "version": mount.version, "digest": mount.digest[:16]}


def paginated(
    context: Context, arguments: Paged, key: str, entries: Sequence[Mapping[str, Any]],
    line: Callable[[Mapping[str, Any]], str], nothing: str = "nothing found", *, head: str = "",
    **data: Any,
) -> ToolAnswer:  # fmt: skip
    """Return one part of a list: ``entries`` under ``key``, and a line of text for each.

    Args:
        nothing: what is said of an empty list.
        head: the first line of the text, of an empty list too.
    """
    begin = int(arguments.cursor)
    screen = entries[begin : begin + arguments.limit]
    status = "ok" if entries else "no_match"
    if not head:
        head = f"{len(entries)} {key}" if entries else f"{status}: {nothing}"
    budget = budget_of(arguments.max_tokens)
    text, count = fill(
        budget, head, [line(entry) for entry in screen],
        lambda shown: more_line(
            len(entries) - begin - shown, key, next_cursor(begin, shown, len(entries))
        ),
    )  # fmt: skip
    answer = {
        **pack_identity(context.mount), "status": status, **data, "total": len(entries),
        key: list(screen[:count]), "nextCursor": next_cursor(begin, count, len(entries)),
    }  # fmt: skip
    return ToolAnswer(text, answer)


def error(code: str, message: str, details: Mapping[str, Any] | None = None) -> ToolAnswer:
    """Return a hard error in the one form that all tools share."""
    body = {"code": code, "message": message, "details": dict(details or {})}
    return ToolAnswer(f"Error {code}: {message}", {"success": False, "error": body}, True)
