"""Findings as SARIF 2.1.0, which GitHub shows in a pull request.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from lorepack.pack.rules import RULES, Rule
from lorepack_server.tools.wiki_lint import Finding

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(findings: Sequence[Finding], roots: Mapping[str, str]) -> dict[str, Any]:
    """Return the log of one run.

    Args:
        roots: where in the repository each source lies; '' is its top.
    """
    used = sorted({finding["rule"] for finding in findings})
    index = {rule: number for number, rule in enumerate(used)}
    driver = {
        "name": "lorepack",
        "semanticVersion": version("lorepack"),
        "rules": [_rule(RULES.get(rule) or Rule(rule, "info", rule)) for rule in used],
    }
    results = [_result(finding, index[finding["rule"]], roots) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def file_in_repository(path: str, roots: Mapping[str, str]) -> str:
    """Return where the file of a page lies in the repository that its source is part of."""
    source, _, inside = path.partition("/")
    root = roots.get(source, source).strip("/")
    return "/".join(filter(None, (root, inside)))


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.says},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, rule: int, roots: Mapping[str, str]) -> dict[str, Any]:
    fix = f" Remedy: {finding['fix']}." if finding["fix"] else ""
    place = f"{finding['rule']}\0{finding['path']}\0{finding['message']}"
    return {
        "ruleId": finding["rule"],
        "ruleIndex": rule,
        "level": _LEVELS[finding["severity"]],
        "message": {"text": f"{finding['message']}.{fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(file_in_repository(finding["path"], roots))},
                    "region": {"startLine": max(finding["line"], 1)},
                }
            }
        ],
        # The line is left out, so that a finding stays itself when lines above it come or go.
        "partialFingerprints": {"finding/v1": hashlib.sha256(place.encode()).hexdigest()[:32]},
    }
