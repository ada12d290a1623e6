"""``wiki_lint``: what the build noticed about the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorepack.packfile.rules import SEVERITIES, as_severe_as
from lorepack.server.mount import Mount
from lorepack.server.tools.answer import (
    LIST,
    Context,
    ToolAnswer,
    ToolSpec,
    listed,
    object_schema,
    output_schema,
)

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


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List findings of at least a level, the worst first."""
    findings = read_findings(
        context.mount, arguments.get("path", ""), arguments.get("level", "info")
    )
    return listed(context, arguments, "findings", findings, finding_line, "no finding of this kind")


def finding_line(finding: Finding) -> str:
    """Return a finding as one line of text."""
    fix = f" → {finding['fix']}" if finding["fix"] else ""
    place = f"{finding['path']}:{finding['line']}"
    return f"{place}: {finding['severity']}: {finding['message']} [{finding['rule']}]{fix}"


SPEC = ToolSpec(
    name="wiki_lint",
    description=(
        "List what is wrong with the pages: broken and ambiguous links, missing anchors and "
        "attachments, orphans, faulty frontmatter, stale, empty or double pages, tags against the "
        "taxonomy; with the place and a remedy."
    ),
    input_schema=object_schema(
        {
            "path": {"type": "string", "description": "a page or a folder"},
            "level": {
                "enum": list(SEVERITIES), "default": "info", "description": "the least severe"
            },
            **LIST,
        }
    ),
    output_schema=output_schema({"findings": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)  # fmt: skip
