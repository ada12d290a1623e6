"""``[[Note#Heading|alias]]`` and ``![[embed]]``."""

from __future__ import annotations

import re

from markdown_it.rules_inline import StateInline

_WIKILINK = re.compile(r"(!?)\[\[((?:(?!\]\]|\[\[)[^\n])+)\]\]")
_ALIAS = re.compile(r"\\?\|")


def wikilink_rule(state: StateInline, silent: bool) -> bool:
    """Inline rule; in a table cell the alias pipe is escaped, elsewhere it may be."""
    if state.src[state.pos] not in "![":
        return False
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        destination, *alias = _ALIAS.split(match.group(2), maxsplit=1)
        target, _, fragment = destination.partition("#")
        label = alias[0].strip() if alias else ""
        token = state.push("wikilink", "", 0)
        token.content = label or wikilink_label(target.strip(), fragment.strip())
        token.meta = {
            "target": target.strip(),
            "fragment": fragment.strip(),
            "label": label,
            "embed": match.group(1) == "!",
        }
    state.pos = match.end()
    return True


def wikilink_label(target: str, fragment: str) -> str:
    """Return what Obsidian shows for a link without alias: ``Note > Heading``."""
    parts = [target, *(part for part in fragment.split("#") if part)]
    return " > ".join(part for part in parts if part)
