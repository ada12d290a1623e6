"""``find_chunks``: the chunks that answer a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorepack.server.retrieve.cite import source_line
from lorepack.server.retrieve.query import FILTERS, MAX_QUERY
from lorepack.server.retrieve.search import Answer, Result, find_chunks
from lorepack.server.tools.addressed import notes
from lorepack.server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    document,
    fenced,
    object_schema,
    output_schema,
    stamp,
)


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Answer from the pack; document text goes into the text content only, unless asked for."""
    answer = find_chunks(
        context.mount,
        arguments["query"],
        limit=arguments.get("limit", 8),
        filters=arguments.get("filters", {}),
        max_tokens=arguments.get("maxTokens", 3000),
        site_url=context.site_url,
        reranker=context.reranker,
    )
    with_text = bool(arguments.get("includeText", False))
    data = {
        **stamp(context.mount),
        "status": answer.status,
        "degraded": bool(answer.degraded),
        "degradedReason": answer.degraded,
        "hint": answer.hint,
        "results": [_entry(result, with_text) for result in answer.results],
    }
    return ToolAnswer(_text(context, answer), data)


def _entry(result: Result, with_text: bool) -> dict[str, object]:
    entry = result.as_dict()
    if with_text:
        entry["text"] = document(result.text)
    else:
        del entry["text"]
    return entry


def _text(context: Context, answer: Answer) -> str:
    head = f"{len(answer.results)} chunks from {context.mount.name} {context.mount.version}"
    lines = [head if answer.results else f"{answer.status}: {answer.hint or 'nothing found'}"]
    if answer.degraded:
        lines.append(f"Degraded: {answer.degraded}")
    addressed = notes(context.mount, [result.slug for result in answer.results])
    for number, result in enumerate(answer.results, 1):
        title = " > ".join((result.title, *result.headings))
        sha = source_line(result.source)
        lines.append(
            f"\n## {number}. {title}\n"
            f"{result.slug}:{result.lines[0]}-{result.lines[1]}{sha} <{result.citation_url}>\n"
            f"{addressed.get(result.slug, '')}{fenced(result.text)}"
        )
    return "\n".join(lines)


SPEC = ToolSpec(
    name="find_chunks",
    description=(
        "Search this pack by words and meaning, in any language. Use it first for any question; "
        'quote a "phrase" that must occur. Returns cited passages, best first.'
    ),
    input_schema=object_schema(
        {
            "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 8},
            "maxTokens": budget(3000),
            "filters": object_schema({name: {"type": "string"} for name in FILTERS}),
            "includeText": {"type": "boolean", "description": "repeat texts in structured content"},
        },
        ("query",),
    ),
    output_schema=output_schema(
        {
            "degraded": {"type": "boolean"},
            "results": {"type": "array", "items": {"type": "object"}},
        }
    ),
    run=run,
)
