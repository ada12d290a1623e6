"""``wiki_lint``: what the build noticed about the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from lorepack.pack.rules import as_severe_as
from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, paginated
from lorepack_server.tools.arguments import Paged
from lorepack_server.tools.folders import page_or_folder

if TYPE_CHECKING:
    from lorepack_server.packs.mount import Mount

_FINDINGS = """
SELECT rule, severity, path, line, message, fix FROM findings
WHERE (:path = '' OR path = :path OR substr(path, 1, length(:path) + 1) = :path || '/')
ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, path, line, id
"""

Finding = Mapping[str, Any]
"""``rule``, ``severity``, ``path``, ``line``, ``message`` and ``fix`` of one finding."""


def read_findings(mount: Mount, path: str = "", level: str = "info") -> list[Finding]:
    """Return the findings of a page or a folder ('' for all), of at least a level, worst first."""
    told = as_severe_as(level)
    rows = mount.connection().execute(_FINDINGS, {"path": path.strip("/")})
    return [dict(row) for row in rows if row["severity"] in told]


class LintArguments(Paged):
    """What ``wiki_lint`` takes."""

    renamed: ClassVar = {"path": "page", "folder": "page", "severity": "level"}
    page: Annotated[str, Field(description="a page or a folder")] = ""
    level: Annotated[
        Literal["error", "warning", "info"], Field(description="the least severe, else info")
    ] = "info"


def run(context: Context, arguments: LintArguments) -> ToolAnswer:
    """List findings of at least a level, the worst first."""
    path = page_or_folder(context.mount.connection(), arguments.page)
    findings = read_findings(context.mount, path, arguments.level)
    return paginated(
        context, arguments, "findings", findings, finding_line, "no finding of this kind"
    )


def finding_line(finding: Finding) -> str:
    """Return a finding as one line of text."""
    fix = f" → {finding['fix']}" if finding["fix"] else ""
    place = f"{finding['path']}:{finding['line']}"
    return f"{place}: {finding['severity']}: {finding['message']} [{finding['rule']}]{fix}"


SPEC = ToolSpec(
    name="wiki_lint",
    description=(
        "List what is wrong with the pages of {pack}, with place and remedy: broken and ambiguous "
        "links, missing anchors and attachments, orphans, faulty frontmatter, stale, empty or "
        "double pages, tags against the taxonomy."
    ),
    arguments=LintArguments,
    run=run,
)
