"""``wiki_lint``: what the build noticed about the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorepack.server.tools.answer import (
    LIST,
    Context,
    ToolAnswer,
    ToolSpec,
    listed,
    object_schema,
    output_schema,
)

LEVELS = ("error", "warning", "info")
_FINDINGS = """
SELECT rule, severity, path, line, message, fix FROM findings
WHERE (:path = '' OR path = :path OR substr(path, 1, length(:path) + 1) = :path || '/')
ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, path, line, id
"""


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List findings of at least a level, the worst first."""
    path = arguments.get("path", "").strip("/")
    told = LEVELS[: LEVELS.index(arguments.get("level", "info")) + 1]
    rows = context.mount.connection().execute(_FINDINGS, {"path": path})
    findings = [dict(row) for row in rows if row["severity"] in told]
    return listed(context, arguments, "findings", findings, _line, "no finding of this kind")


def _line(finding: Mapping[str, Any]) -> str:
    fix = f" → {finding['fix']}" if finding["fix"] else ""
    place = f"{finding['path']}:{finding['line']}"
    return f"{place}: {finding['severity']}: {finding['message']} [{finding['rule']}]{fix}"


SPEC = ToolSpec(
    name="wiki_lint",
    description=(
        "List what is wrong with the pages: broken and ambiguous links, missing anchors and "
        "attachments, faulty frontmatter; with the place and a remedy."
    ),
    input_schema=object_schema(
        {
            "path": {"type": "string", "description": "a page or a folder"},
            "level": {"enum": list(LEVELS), "default": "info", "description": "the least severe"},
            **LIST,
        }
    ),
    output_schema=output_schema({"findings": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
