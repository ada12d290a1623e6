"""How many tokens a text has, by a tokenizer that models of today are near to."""

from __future__ import annotations

import gzip
from base64 import b64decode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
"""Where ``cl100k_base`` cuts a text before it looks for tokens."""
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
    """Return OpenAI's ``cl100k_base``, whose vocabulary tiktoken itself would fetch from the web.

    The file beside this one is theirs (MIT, https://github.com/openai/tiktoken): a line a token,
    its bytes in base 64 and its rank.
    """
    import tiktoken

    packed = (files("lorepack_server.tools") / "cl100k_base.tiktoken.gz").read_bytes()
    lines = gzip.decompress(packed).split(b"\n")
    ranks = {b64decode(token): int(rank) for token, rank in map(bytes.split, filter(None, lines))}
    return tiktoken.Encoding(
        "cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
