"""Make a finding of a rule that is known."""

from __future__ import annotations

from lorepack.pack.rules import RULES
from lorepack_builder.model import Finding


def finding(rule: str, path: str, line: int, message: str, fix: str) -> Finding:
    """Return a finding with the rule's own severity."""
    return Finding(rule, RULES[rule].severity, path, line, message, fix)
