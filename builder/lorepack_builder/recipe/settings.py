"""What a recipe may set about upkeep, and what holds where it sets nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from lorepack.pack.rules import RULES, SEVERITIES

OFF = "off"
TOOL_KEYS = ("tool", "ai_tool", "agent", "generator")
"""Properties that name the AI tool which wrote a page."""


@dataclass(frozen=True)
class LintSettings:
    """``[lint]``: a severity or `OFF` by rule, and the limits of rules that have one."""

    rules: Mapping[str, str] = field(default_factory=dict)
    stale_days: int = 90
    summary_characters: int = 200
    page_kilobytes: int = 500


def lint_problem(table: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return the first wrong word of ``[lint]``, what is wrong with it, and a remedy."""
    for rule, severity in table.get("rules", {}).items():
        if rule not in RULES:
            near = ", ".join(get_close_matches(rule, RULES)) or ", ".join(RULES)
            return rule, f"[lint] rules: there is no rule {rule!r}", f"try {near}"
        if severity not in (*SEVERITIES, OFF):
            choices = f"{', '.join(SEVERITIES)} or {OFF}"
            return rule, f"[lint] rules: {rule} is {severity!r}", f"use {choices}"
    for key, value in table.items():
        if key != "rules" and value < 1:
            return key, f"[lint] {key} is {value}", "use 1 or more"
    return None
