"""``[text](my note.md)``: CommonMark wants the spaces encoded, authors do not."""

from __future__ import annotations

import re

from markdown_it.rules_inline import StateInline

_SPACED = re.compile(r"(!?)\[((?:\\.|[^\[\]\n\\])*)\]\(([^()\n<>\"]+ [^()\n<>\"]*)\)")


def spaced_link_rule(state: StateInline, silent: bool) -> bool:
    """Inline rule for a destination with bare spaces and no title."""
    if state.src[state.pos] not in "![":
        return False
    match = _SPACED.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    image, text, destination = match.groups()
    href = state.md.normalizeLink(destination.strip())
    if not state.md.validateLink(href):
        return False
    if not silent:
        if image:
            token = state.push("image", "img", 0)
            token.attrs = {"src": href, "alt": ""}
            token.content = text
            token.children = []
            state.md.inline.parse(text, state.md, state.env, token.children)
        else:
            state.push("link_open", "a", 1).attrs = {"href": href}
            state.linkLevel += 1
            end, state.pos, state.posMax = state.posMax, match.start(2), match.end(2)
            state.md.inline.tokenize(state)
            state.posMax = end
            state.linkLevel -= 1
            state.push("link_close", "a", -1)
    state.pos = match.end()
    return True
