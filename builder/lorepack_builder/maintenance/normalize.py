"""Fold text without moving a character, so that places found in it are places of the text."""

from __future__ import annotations

from lorepack.text.tokenize import fold


class _Letters(dict[int, str]):
    """A table for `str.translate`: each character's folded form, where that is one character."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = fold(char)
        self[code] = result = " " if char.isspace() and char != "\n" else (
            folded if len(folded) == 1 else char
        )  # fmt: skip
        return result


_LETTERS = _Letters()


def fold_in_place(text: str) -> str:
    """Return ``text`` folded as `segment.fold` does, in the same length; spaces become one kind."""
    return text.translate(_LETTERS)
