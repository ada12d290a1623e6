"""The size of an answer, and what of it fits."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lorepack_server.tools.arguments import UNLIMITED
from lorepack_server.tools.tokens import count_tokens

CHARACTERS = 7_300
"""Of an answer whose size nobody asked for, with room for a note: real clients cut at 8,000."""
_MOST_SIGNS = 16
"""Characters of a text that are looked at for each token that it may have."""


@dataclass(frozen=True)
class Budget:
    """How large an answer may be, by ``measure``, which of parts adds up to about the whole's."""

    limit: int
    measure: Callable[[str], int]


def budget_of(max_tokens: int) -> Budget:
    """Return the budget that a caller asked for; 0 is none, and counts characters."""
    if max_tokens == UNLIMITED:
        return Budget(sys.maxsize, len)
    return Budget(max_tokens, count_tokens) if max_tokens else Budget(CHARACTERS, json_characters)


def json_characters(text: str) -> int:
    """Return how long ``text`` is as clients hold it against their limits: written as JSON."""
    return len(json.dumps(text, ensure_ascii=False)) - 2


def fill(
    budget: Budget, head: str, blocks: Sequence[str], more: Callable[[int], str] = lambda _: ""
) -> tuple[str, int]:
    """Return a head, as many blocks as fit after it (one at least), and how many they are.

    Args:
        more: makes, of the number of blocks that are shown, the line that says what is left out;
            '' where nothing is.
    """
    measure = budget.measure
    sizes = [measure(block) + 1 for block in blocks]
    used = measure(head)
    ends = [used]
    for size in sizes:
        used += size
        ends.append(used)
    count = len(blocks)
    while count > 1 and ends[count] + _size_of(more(count), measure) > budget.limit:
        count -= 1
    lines = [head, *blocks[:count], more(count)]
    return "\n".join(line for line in lines if line), count


def _size_of(line: str, measure: Callable[[str], int]) -> int:
    return measure(line) + 1 if line else 0


def cut(text: str, room: int, measure: Callable[[str], int]) -> str:
    """Return the longest beginning of ``text`` that fits in ``room``; whole lines if it can be."""
    text = text[: room * _MOST_SIGNS]
    if measure(text) <= room:
        return text
    lines = text.split("\n")
    count = _most(len(lines), lambda n: measure("\n".join(lines[:n])) <= room)
    if count:
        return "\n".join(lines[:count])
    return lines[0][: _most(len(lines[0]), lambda n: measure(lines[0][:n]) <= room)]


def _most(last: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to ``last`` that fits, where smaller ones do as well; or 0."""
    low = 0
    while low < last:
        middle = (low + last + 1) // 2
        low, last = (middle, last) if fits(middle) else (low, middle - 1)
    return low
