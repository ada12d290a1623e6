"""Zstandard from the standard library, which has it from 3.14 on, or from its backport."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
