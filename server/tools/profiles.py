"""Which tools a client sees."""

from __future__ import annotations

from lorepack.server.tools import find_chunks, find_neighbors, get_page, wiki_status
from lorepack.server.tools.answer import ToolSpec

PROFILES: dict[str, tuple[ToolSpec, ...]] = {
    "core": (find_chunks.SPEC, get_page.SPEC, find_neighbors.SPEC, wiki_status.SPEC),
}
DEFAULT_PROFILE = "core"
