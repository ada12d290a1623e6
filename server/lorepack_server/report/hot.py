"""The hot page as Markdown, to be kept in a vault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lorepack.errors import LorepackError
from lorepack_server.packs.mount import Mount
from lorepack_server.tools.answer import Context
from lorepack_server.tools.arguments import without_limits
from lorepack_server.tools.daily_update import SPEC, UpdateArguments

_SIGNS = re.compile(r"[\[\]|<>\n]")
"""Signs that a link's words cannot hold."""
_KIND = "SELECT name, kind FROM sources"


def hot_markdown(mount: Mount, since: str | None = None) -> str:
    """Return what is new and changed, with links to the pages.

    Raises:
        LorepackError: ``since`` is no date.
    """
    answer = SPEC.run(Context(mount), without_limits(UpdateArguments(since=since or "")))
    if answer.is_error:
        raise LorepackError(answer.data["error"]["message"], "write it as 2026-01-31")
    data = answer.data
    kinds: Mapping[str, str] = dict(mount.connection().execute(_KIND).fetchall())
    lines = [
        "---", f"updated: {data['day']}" if data["day"] else "updated:", "lint_ignore: orphan",
        "---", "", f"# Hot: {mount.title} {mount.version}", "",
        f"Pages new or changed since {data['since']}.", "",
    ]  # fmt: skip
    lines += [
        f"- {page['day']} {page['change']}: {_link(page, kinds)}{_summary(page)}"
        for page in data["pages"]
    ] or ["- none"]
    told = [change for change in data["changes"] if change["kind"] != "removed"]
    if told:
        lines += ["", f"## Since version {data['previousVersion']}", ""]
        lines += [f"- {change['kind']}: {_link(change, kinds)}" for change in told]
    if data["newTags"]:
        lines += ["", "## New tags", "", " ".join(f"#{tag}" for tag in data["newTags"])]
    if data["newOrphans"]:
        lines += ["", "## New orphans", ""]
        lines += [f"- {_link({'path': p, 'title': ''}, kinds)}" for p in data["newOrphans"]]
    return "\n".join(lines) + "\n"


def _link(page: Mapping[str, Any], kinds: Mapping[str, str]) -> str:
    source, _, inside = page["path"].partition("/")
    name = inside.removesuffix(".md")
    title = _SIGNS.sub("", page["title"]) or name
    if kinds.get(source) == "vault":
        return f"[[{name}]]" if title == name else f"[[{name}|{title}]]"
    return f"[{title}](<{inside}>)"


def _summary(page: Mapping[str, Any]) -> str:
    return f": {page['summary']}" if page["summary"] else ""
