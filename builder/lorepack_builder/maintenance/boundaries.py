"""Where words begin and end: by signs where a script has spaces, by company where it has none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from lorepack.text.tokenize import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")
_RUN = re.compile(f"[{UNSPACED}]+")
_JOINTS = frozenset("-_./\\@&+")
"""Signs that make one word of two (``e-mail``). An apostrophe does not: ``Izmir'de``."""
_SHORT = 3
"""Characters of a name that may be a piece of longer words; longer ones hardly are."""


class Company:
    """How often characters of unspaced scripts stand alone and side by side in a pack's texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._single: Counter[str] = Counter()
        self._pairs: Counter[str] = Counter()
        for text in texts:
            for run in _RUN.findall(text):
                self._single.update(run)
                self._pairs.update(map("".join, pairwise(run)))

    def bond(self, pair: str) -> float:
        """Return how much oftener two characters meet than by chance, in no unit.

        This is the ratio within pointwise mutual information (Church and Hanks 1990), whose order
        is all that is asked for; one meeting is taken off, as what is seen once tells nothing.
        """
        chance = self._single[pair[0]] * self._single[pair[1]]
        return (self._pairs[pair] - 1) / chance if chance else 0.0


def is_word(text: str, start: int, end: int, company: Company) -> bool:
    """Say whether ``text[start:end]`` is a word, or words, and no piece of a longer one."""
    left, right = text[start - 1 : start], text[end : end + 1]
    first, last = text[start], text[end - 1]
    if _spaced(first) and (_spaced(left) or _joined(left, text[start - 2 : start - 1])):
        return False
    if _spaced(last) and (_spaced(right) or _joined(right, text[end + 1 : end + 2])):
        return False
    if end - start > _SHORT or not (_is_unspaced(first) and _is_unspaced(last)):
        return True
    inner = min((company.bond(text[at : at + 2]) for at in range(start, end - 1)), default=0.0)
    outer = [left + first] if _is_unspaced(left) else []
    outer += [last + right] if _is_unspaced(right) else []
    return all(company.bond(pair) <= inner for pair in outer)


def word_end(text: str, end: int) -> int:
    """Return where the spaced word ends in whose midst, or at whose end, ``end`` is."""
    if not _spaced(text[end - 1 : end]):
        return end
    while _spaced(text[end : end + 1]):
        end += 1
    return end


def word_start(text: str, end: int) -> int:
    """Return where the spaced word begins that ends at ``end``; ``end`` if none does."""
    while end > 0 and _spaced(text[end - 1]):
        end -= 1
    return end


def _spaced(char: str) -> bool:
    return (char.isalnum() or char == "_") and not _is_unspaced(char)


def _joined(sign: str, beyond: str) -> bool:
    return sign in _JOINTS and sign != "" and _spaced(beyond)


def _is_unspaced(char: str) -> bool:
    return _UNSPACED.match(char) is not None
