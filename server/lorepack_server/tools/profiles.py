"""Which tools a client sees."""

from __future__ import annotations

from lorepack_server.tools import (
    cross_linker,
    daily_update,
    find_chunks,
    find_neighbors,
    get_page,
    memory_bridge,
    pack_diff,
    projects,
    tag_taxonomy,
    wiki_lint,
    wiki_query,
    wiki_status,
    wiki_synthesize,
)
from lorepack_server.tools.answer import ToolSpec

CORE: tuple[ToolSpec, ...] = (
    find_chunks.SPEC, get_page.SPEC, find_neighbors.SPEC, projects.DEPENDENCIES, projects.RESOLVE,
    wiki_status.SPEC,
)  # fmt: skip
WIKI: tuple[ToolSpec, ...] = (
    wiki_query.SPEC, memory_bridge.SPEC, wiki_lint.SPEC, cross_linker.SPEC, tag_taxonomy.SPEC,
    wiki_synthesize.SPEC, daily_update.SPEC, pack_diff.SPEC,
)  # fmt: skip
PROFILES: dict[str, tuple[ToolSpec, ...]] = {"core": CORE, "wiki": WIKI, "all": (*CORE, *WIKI)}
DEFAULT_PROFILE = "core"
