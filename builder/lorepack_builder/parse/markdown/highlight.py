"""``==highlight==``, by the delimiter algorithm of strikethrough."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter

_EQUALS = ord("=")


def highlight_plugin(parser: MarkdownIt) -> None:
    """Add ``mark_open`` and ``mark_close``."""
    parser.inline.ruler.before("strikethrough", "highlight", _tokenize)
    parser.inline.ruler2.before("strikethrough", "highlight", _pair_all)


def _tokenize(state: StateInline, silent: bool) -> bool:
    if silent or not state.src.startswith("==", state.pos):
        return False
    scanned = state.scanDelims(state.pos, True)
    if scanned.length < 2:
        return False
    if scanned.length > 2:
        # The last two of a run count; the others are passed over at once, not one by one.
        state.pending += "=" * (scanned.length - 2)
        state.pos += scanned.length - 2
        return True
    state.push("text", "", 0).content = "=="
    state.delimiters.append(
        Delimiter(
            marker=_EQUALS,
            length=0,
            token=len(state.tokens) - 1,
            end=-1,
            open=scanned.can_open,
            close=scanned.can_close,
        )
    )
    state.pos += 2
    return True


def _pair_all(state: StateInline) -> None:
    _pair(state, state.delimiters)
    for meta in state.tokens_meta:
        if meta and "delimiters" in meta:
            _pair(state, meta["delimiters"])


def _pair(state: StateInline, delimiters: list[Delimiter]) -> None:
    for opening in delimiters:
        if opening.marker != _EQUALS or opening.end == -1:
            continue
        closing = delimiters[opening.end]
        for delimiter, kind, nesting in ((opening, "mark_open", 1), (closing, "mark_close", -1)):
            token = state.tokens[delimiter.token]
            token.type, token.tag, token.markup, token.content = kind, "mark", "==", ""
            token.nesting = 1 if nesting == 1 else -1
