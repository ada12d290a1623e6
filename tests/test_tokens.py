"""Tokens are counted by a real tokenizer, whose vocabulary is the published one."""

from __future__ import annotations

import gzip
import hashlib
import inspect
from importlib.resources import files

import pytest
from tiktoken_ext import openai_public

from lorepack_server.tools.tokens import PATTERN, count_tokens


def test_vocabulary_and_pattern_are_those_of_tiktoken() -> None:
    published = inspect.getsource(openai_public.cl100k_base)
    packed = (files("lorepack_server.tools") / "cl100k_base.tiktoken.gz").read_bytes()
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() in published
    assert PATTERN in published


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("<|endoftext|>", 7),
        ("お誕生日おめでとう", 9), ("    return 1\n", 5), ("a" * 100_000, 12_500), ("\ud800", 1),
    ],
)  # fmt: skip
def test_texts_have_as_many_tokens_as_documented(text: str, tokens: int) -> None:
    assert abs(count_tokens(text) - tokens) <= max(2, len(text) // 1000)
