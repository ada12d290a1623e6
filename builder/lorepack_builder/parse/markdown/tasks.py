"""``- [x] task`` with any mark."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_TASK = re.compile(r"\[(.)\][ \t]+")


def make_tasks(state: StateCore) -> None:
    """Core rule: a list item that begins with a mark gets a ``task`` token (meta: mark)."""
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type != "list_item_open" or index + 2 >= len(tokens):
            continue
        inline = tokens[index + 2]
        match = _TASK.match(inline.content) if inline.type == "inline" else None
        if match and inline.children and inline.children[0].type == "text":
            inline.children[0].content = inline.children[0].content[match.end() :]
            inline.children.insert(0, Token("task", "input", 0, meta={"mark": match.group(1)}))
            token.attrJoin("class", "task-list-item")
