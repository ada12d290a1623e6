"""``find_chunks``: the chunks that answer a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from lorepack_server.retrieve.citations import short_citation, source_line
from lorepack_server.tools.addressed import notes
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    document,
    fenced,
    more_line,
    next_cursor,
    pack_identity,
)
from lorepack_server.tools.arguments import Arguments, Between, Cursor, MaxTokens
from lorepack_server.tools.budget import Budget, budget_of, cut, fill

if TYPE_CHECKING:
    from lorepack_server.retrieve.search import Answer, Result

_SOURCES = 3
"""Repositories and their commits that the head of an answer names."""
_HEADINGS = 300
"""Characters of the headings that an answer without their passages names."""


class Filters(Arguments):
    """Which pages may answer."""

    renamed: ClassVar = {"page": "path", "folder": "path", "tags": "tag", "language": "lang"}
    source: str = ""
    path: str = ""
    tag: str = ""
    category: str = ""
    lifecycle: str = ""
    lang: str = ""
    tool: str = ""

    def chosen(self) -> dict[str, str]:
        """Return the filters that are set, by name."""
        return {name: value for name, value in self.model_dump().items() if value}


class ChunksArguments(Arguments):
    """What ``find_chunks`` takes."""

    renamed: ClassVar = {
        "question": "query", "q": "query", "k": "limit", "top_k": "limit", "filter": "filters",
        "include_text": "",
    }  # fmt: skip
    query: Annotated[str, Field(min_length=1)]
    limit: Annotated[int, Between(1, 50), Field(description="1 to 50, else 8")] = 8
    filters: Annotated[Filters, Field(description="pages that may answer")] = Filters()
    explain: Annotated[bool, Field(description="show ranks and scores")] = False
    cursor: Cursor = "0"
    max_tokens: MaxTokens = 0


def run(context: Context, arguments: ChunksArguments) -> ToolAnswer:
    """Answer from the pack with cited passages, best first."""
    answer = search(context, arguments)
    data = {
        **pack_identity(context.mount),
        "status": answer.status,
        "degraded": bool(answer.degraded),
        "degradedReason": answer.degraded,
        "hint": answer.hint,
    }
    hits = [(context, result) for result in answer.results]
    places = dict.fromkeys(source_line(result.source) for result in answer.results)
    label = f"{context.label}{''.join(list(places)[:_SOURCES])}; {context.cited_below}"
    return answer_with(arguments, hits, head_of(label, answer), data)


def search(context: Context, arguments: ChunksArguments) -> Answer:
    """Return what the pack answers, up to the end of the part that is asked for."""
    from lorepack_server.retrieve.search import find_chunks

    return find_chunks(
        context.mount,
        arguments.query,
        limit=int(arguments.cursor) + arguments.limit,
        filters=arguments.filters.chosen(),
        site_url=context.site_url,
        reranker=context.reranker,
    )


def head_of(label: str, answer: Answer) -> str:
    """Return the first lines of an answer: whether anything was found, and what failed."""
    lines = [label if answer.status == "ok" else f"{answer.status}: {answer.hint} ({label})"]
    if answer.status == "no_match" and answer.results:
        lines.append("The nearest passages, which probably do not answer:")
    if answer.degraded:
        lines.append(f"Degraded: {answer.degraded}")
    return "\n".join(lines)


def answer_with(
    arguments: ChunksArguments, hits: Sequence[tuple[Context, Result]], head: str,
    data: dict[str, Any], *, name_packs: bool = False,
) -> ToolAnswer:  # fmt: skip
    """Return the part of ``hits`` that is asked for and fits, as text and as data.

    Args:
        name_packs: whether each hit says from which pack it is.
    """
    begin, budget = int(arguments.cursor), budget_of(arguments.max_tokens)
    hits = hits[begin : begin + arguments.limit]
    flagged = _addressed(hits)
    blocks = [
        _block(context, result, arguments.explain, flagged.get((context.label, result.path), ""),
               name_packs)
        for context, result in hits
    ]  # fmt: skip
    if blocks:
        blocks[0] = _first(blocks[0], budget, head, hits[0][1])
    total = begin + len(hits)

    def more(shown: int) -> str:
        names = "; ".join(" > ".join((r.title, *r.headings)) for _, r in hits[shown:])
        line = more_line(len(hits) - shown, "found", next_cursor(begin, shown, total))
        return f"\n{line} They are: {names[:_HEADINGS]}" if line else ""

    text, count = fill(budget, head, blocks, more)
    data = {
        **data,
        "results": [entry(context, result, name_packs) for context, result in hits[:count]],
        "nextCursor": next_cursor(begin, count, total),
    }
    return ToolAnswer(text, data)


def entry(context: Context, result: Result, name_pack: bool = False) -> dict[str, Any]:
    """Return a result for a program."""
    values = {**result.as_dict(), "text": document(result.text)}
    return {**values, **pack_identity(context.mount)} if name_pack else values


def _block(context: Context, result: Result, explain: bool, note: str, name_pack: bool) -> str:
    title = " > ".join((result.title, *result.headings))
    cited = short_citation(result.path, result.lines)
    if name_pack:
        title, cited = f"{context.label}: {title}", f"lorepack://{context.mount.name}/{cited}"
    scores = f"{_scores(result)}\n" if explain else ""
    return f"\n## {title}\n{cited}\n{scores}{note}{fenced(result.text)}"


def _first(block: str, budget: Budget, head: str, result: Result) -> str:
    """Return the best hit's block, its passage cut where it alone is more than may be."""
    room = budget.limit - budget.measure(head) - 8
    if budget.measure(block) <= room:
        return block
    begin = block.index(fenced(result.text))
    whole = short_citation(result.path, result.lines)
    left = f'\nThe passage is cut: get_page with page "{whole}" gives all of it.'
    room -= budget.measure(f"{block[:begin]}{fenced('')}{left}")
    shown = cut(document(result.text), max(room, 20), budget.measure)
    return f"{block[:begin]}{fenced(shown)}{left}"


def _scores(result: Result) -> str:
    parts = [f"rrf {result.rrf_score:.4f}"]
    if result.bm25_rank:
        parts.append(f"bm25 rank {result.bm25_rank}, {result.bm25_score:.2f} "
                     f"by weight {result.bm25_weight:.2f}")  # fmt: skip
    if result.vector_rank:
        parts.append(f"vector rank {result.vector_rank}, {result.vector_score:.3f}")
    if result.rerank_score is not None:
        parts.append(f"rerank {result.rerank_score:.3f}")
    return "; ".join(parts)


def _addressed(hits: Iterable[tuple[Context, Result]]) -> dict[tuple[str, str], str]:
    """Return the note of each page (pack and path) whose text addresses agents."""
    paths: dict[str, tuple[Context, list[str]]] = {}
    for context, result in hits:
        paths.setdefault(context.label, (context, []))[1].append(result.path)
    return {
        (label, path): note
        for label, (context, named) in paths.items()
        for path, note in notes(context.mount, named).items()
    }


SPEC = ToolSpec(
    name="find_chunks",
    description=(
        "Search {pack}: cited passages that answer a question, best first, in any language. Ask it "
        'before you answer from memory; quote a "phrase" that must occur.'
    ),
    arguments=ChunksArguments,
    run=run,
)
