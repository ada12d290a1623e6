"""Count tokens, by the embedder's tokenizer or, without one, by an estimate."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TokenOffsets = Callable[[Sequence[str]], list[Sequence[int]]]
_ESTIMATE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]{1,5}|[^\w\s]")
_WINDOW = 20_000


def tokenizer_offsets(tokenizer: Tokenizer) -> TokenOffsets:
    """Return a counter that uses the model's own tokenizer."""

    def offsets(texts: Sequence[str]) -> list[Sequence[int]]:
        # A tokenizer is not linear in one endless text, so long ones go in windows.
        windows = [
            (number, start, text[start : start + _WINDOW])
            for number, text in enumerate(texts)
            for start in range(0, len(text), _WINDOW)
        ]
        encodings = tokenizer.encode_batch(
            [window for _, _, window in windows], add_special_tokens=False
        )
        result: list[list[int]] = [[] for _ in texts]
        for (number, start, _), encoding in zip(windows, encodings, strict=True):
            result[number] += [start + first for first, _ in encoding.offsets]
        return list(result)

    return offsets


def estimated_offsets(texts: Sequence[str]) -> list[Sequence[int]]:
    """Count without a tokenizer: CJK characters, five letters at a time, signs."""
    return [[match.start() for match in _ESTIMATE.finditer(text)] for text in texts]


class LineCounts:
    """Tokens before each line, and where they begin."""

    def __init__(self, starts: list[int], before: list[int], offsets: Sequence[int]) -> None:
        self._starts = starts
        self._before = before
        self._offsets = offsets

    def between(self, first: int, end: int) -> int:
        """Return the tokens of lines ``first`` to ``end`` (exclusive), counted from 0."""
        return self._before[end] - self._before[first]

    def columns(self, line: int) -> list[int]:
        """Return the columns at which the tokens of one line begin."""
        tokens = self._offsets[self._before[line] : self._before[line + 1]]
        return [offset - self._starts[line] for offset in tokens]


def count_lines(lines: list[str], offsets: Sequence[int]) -> LineCounts:
    """Return the token counts of a text whose tokens begin at ``offsets``."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    before = [bisect_left(offsets, start) for start in starts[:-1]]
    return LineCounts(starts, [*before, len(offsets)], offsets)
