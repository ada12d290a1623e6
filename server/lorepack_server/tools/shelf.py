"""Several packs behind one list of tools: each takes ``pack``, and the answers are joined."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, create_model

from lorepack_server.packs.about import about_pack
from lorepack_server.retrieve.fusion import RRF_K
from lorepack_server.retrieve.neighbors import find_nodes
from lorepack_server.retrieve.page_names import Place, find_pages, read_page_name
from lorepack_server.tools import find_chunks, find_neighbors, get_page
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    error,
    more_line,
    next_cursor,
)
from lorepack_server.tools.arguments import Arguments, Paged
from lorepack_server.tools.budget import budget_of, fill
from lorepack_server.tools.near_names import near_names
from lorepack_server.tools.profiles import PROFILES

if TYPE_CHECKING:
    from lorepack_server.retrieve.search import Result

_TOKENS = 1_600
"""Of an answer that joins those of several packs, where nobody asked for a size."""


@dataclass(frozen=True)
class ShelfContext:
    """The packs that a caller may ask, by name, and where it works."""

    contexts: Mapping[str, Context]

    @property
    def logged(self) -> dict[str, str]:
        """What a line in the log says of what is asked."""
        return {"pack": ",".join(self.contexts)[:200], "version": ""}

    @property
    def shares_disk(self) -> bool:
        """Whether the client is on this machine."""
        return any(context.shares_disk for context in self.contexts.values())

    def with_roots(self, roots: tuple[Path, ...]) -> ShelfContext:
        """Return the same for a client that works in ``roots``."""
        return ShelfContext({name: c.with_roots(roots) for name, c in self.contexts.items()})


Joined = Callable[[ToolSpec, Sequence[Context], Any], ToolAnswer]


@cache
def shelf_tools(profile: str) -> tuple[ToolSpec, ...]:
    """Return ``list_packs`` and the tools of a profile, each with an argument ``pack``."""
    return (LIST_PACKS, *(_for_shelf(spec) for spec in PROFILES[profile]))


def _for_shelf(spec: ToolSpec) -> ToolSpec:
    model: type[Arguments] = create_model(
        f"{spec.arguments.__name__}OnShelf",
        __base__=spec.arguments,
        pack=Annotated[tuple[str, ...], Field(default=(), description="one or several; else all")],
    )
    model.renamed = {**spec.arguments.renamed, "packs": "pack"}

    def run(shelf: ShelfContext, arguments: Any) -> ToolAnswer:
        chosen = list(shelf.contexts.values())
        if arguments.pack:
            unknown = [name for name in arguments.pack if _name(name) not in shelf.contexts]
            if unknown:
                near = near_names(_name(unknown[0]), shelf.contexts, 5) or list(shelf.contexts)[:5]
                return error("no_such_pack", f"there is no pack {unknown[0][:60]!r} here; there "
                             f"are: {', '.join(near)}")  # fmt: skip
            chosen = [shelf.contexts[name] for name in dict.fromkeys(map(_name, arguments.pack))]
        if len(chosen) == 1:
            return spec.run(chosen[0], arguments)
        return _JOINED.get(spec.name, _one_after_another)(spec, chosen, arguments)

    return replace(spec, arguments=model, run=run)


def _name(reference: str) -> str:
    """Return the name in ``name``, ``name@version`` or ``name version``."""
    return reference.strip().replace(" ", "@").partition("@")[0].lower()


def _chunks_of_all(
    spec: ToolSpec, contexts: Sequence[Context], arguments: find_chunks.ChunksArguments
) -> ToolAnswer:
    """Fuse the packs' lists by rank, as their scores have other scales.

    A pack counts by how near its best hit is, so that one that is about something else comes last.
    """
    answers = [(context, find_chunks.search(context, arguments)) for context in contexts]
    good = [pair for pair in answers if pair[1].status == "ok"] or answers
    nearest = [max(map(_nearness, answer.results), default=0.0) for _, answer in good]
    most = max(nearest) or 1.0
    ranked = sorted(
        (
            (-(near / most) / (RRF_K + rank), place, rank, context, result)
            for place, ((context, answer), near) in enumerate(zip(good, nearest, strict=True))
            for rank, result in enumerate(answer.results, 1)
        ),
        key=lambda hit: hit[:3],
    )
    hits = [(context, result) for *_, context, result in ranked]
    best = good[0][1]
    degraded = "; ".join(dict.fromkeys(a.degraded for _, a in answers if a.degraded))
    head = find_chunks.head_of(f"{len(contexts)} packs", replace(best, degraded=degraded))
    if best.status != "ok":
        hits = hits[: max(len(answer.results) for _, answer in good)]
    data = {"packs": [context.mount.name for context in contexts], "status": best.status,
            "degraded": bool(degraded), "degradedReason": degraded, "hint": best.hint}  # fmt: skip
    return find_chunks.answer_with(arguments, hits, head, data, name_packs=True)


def _nearness(result: Result) -> float:
    """Return how near a hit is to the query: by the words that it shares, and by its cosine."""
    return (result.bm25_weight or 0.0) + (result.vector_score or 0.0)


def _page_of_any(
    spec: ToolSpec, contexts: Sequence[Context], arguments: get_page.PageArguments
) -> ToolAnswer:
    if arguments.list_pages or not arguments.page:
        return _one_after_another(spec, contexts, arguments)
    asked = _asked_pack(contexts, arguments.page)
    found: list[tuple[Context, Place]] = [
        (context, place)
        for context in asked
        for place in find_pages(context.mount.connection(), arguments.page)
    ]
    if len(found) == 1:
        return get_page.read_place(*found[0], arguments)
    if not found:
        return _one_after_another(spec, asked, arguments)
    names = [f"{c.mount.name}: {p.path}{'#' if p.section else ''}{p.section}" for c, p in found]
    text = f"several: {arguments.page!r} may be any of these; ask again with pack and page"
    return ToolAnswer("\n".join([text, *(f"- {name}" for name in names[:20])]),
                      {"status": "several", "pages": names})  # fmt: skip


def _asked_pack(contexts: Sequence[Context], name: str) -> Sequence[Context]:
    """Return the pack that an address names, or all."""
    pack = read_page_name(name).pack
    return [context for context in contexts if context.mount.name == pack] or contexts


def _neighbors_of_any(
    spec: ToolSpec, contexts: Sequence[Context], arguments: find_neighbors.NeighborsArguments
) -> ToolAnswer:
    found: list[tuple[Context, list[sqlite3.Row]]] = [
        (context, nodes)
        for context in _asked_pack(contexts, arguments.page)
        if (nodes := find_nodes(context.mount.connection(), arguments.page))
    ]
    return _one_after_another(spec, [context for context, _ in found] or contexts[:1], arguments)


def _one_after_another(spec: ToolSpec, contexts: Sequence[Context], arguments: Any) -> ToolAnswer:
    """Ask every pack, and give the answers of those that have one, each under its name."""
    if len(contexts) == 1:
        return spec.run(contexts[0], arguments)
    asked = getattr(arguments, "max_tokens", 0)
    smaller = arguments
    if "max_tokens" in type(arguments).model_fields:
        tokens = max((asked or _TOKENS) // len(contexts), 100)
        smaller = arguments.model_copy(update={"max_tokens": tokens})
    answers = [(context, spec.run(context, smaller)) for context in contexts]
    good = [
        pair for pair in answers
        if not pair[1].is_error and pair[1].data.get("status") not in ("no_match", "no_docs")
    ]  # fmt: skip
    told = good or answers
    blocks = [f"\n# {context.label}\n{answer.text}" for context, answer in told]
    names = [context.mount.name for context, _ in told]
    text, _ = fill(
        budget_of(asked), f"{len(told)} of {len(contexts)} packs", blocks,
        lambda shown: f"Left out: {', '.join(names[shown:])}; ask again with pack."
        if shown < len(names) else "",
    )  # fmt: skip
    data = {"status": "ok" if good else "no_match",
            "answers": [dict(answer.data) for _, answer in told]}  # fmt: skip
    return ToolAnswer(text, data, is_error=all(answer.is_error for _, answer in answers))


_JOINED: Mapping[str, Joined] = {
    "find_chunks": _chunks_of_all, "get_page": _page_of_any, "find_neighbors": _neighbors_of_any,
}  # fmt: skip


class PacksArguments(Paged):
    """What ``list_packs`` takes."""

    renamed: ClassVar = {}


def list_packs(shelf: ShelfContext, arguments: PacksArguments) -> ToolAnswer:
    """List the packs with their titles and what is in them."""
    rows = [pack_row(context) for context in shelf.contexts.values()]
    begin = int(arguments.cursor)
    screen = rows[begin : begin + arguments.limit]
    lines = [f"{r['name']} {r['version']}: {r['title']} ({r['contents']})" for r in screen]
    text, shown = fill(
        budget_of(arguments.max_tokens), f"{len(rows)} packs", lines,
        lambda count: more_line(
            len(rows) - begin - count, "packs", next_cursor(begin, count, len(rows))
        ),
    )  # fmt: skip
    data = {"status": "ok" if rows else "no_match", "packs": screen[:shown],
            "nextCursor": next_cursor(begin, shown, len(rows))}  # fmt: skip
    return ToolAnswer(text, data)


def pack_row(context: Context) -> dict[str, Any]:
    """Return what a list of packs says of one."""
    mount = context.mount
    about = about_pack(mount.connection())
    return {
        "name": mount.name, "version": mount.version, "title": about.title,
        "contents": about.contents, "pages": mount.counts["pages"],
        "chunks": mount.counts["chunks"], "languages": list(mount.languages),
        "digest": mount.digest,
    }  # fmt: skip


LIST_PACKS = ToolSpec(
    name="list_packs",
    description="List {pack} that can be asked here: name, version, title and what is in each.",
    arguments=PacksArguments,
    run=list_packs,
)
