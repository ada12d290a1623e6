"""Vectors in the two forms that a pack holds: int8 rows, and bits in planes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def quantize(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return int8 (n, dims) and float32 scales (n,), with ``vector ≈ int8 * scale``."""
    scales = np.abs(vectors).max(axis=1, initial=0) / np.float32(127)
    scales[scales == 0] = 1
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def binary_planes(vectors: Floats, mean: Floats) -> npt.NDArray[np.uint64]:
    """Return the signs of ``vectors - mean`` as uint64 (dims / 64, n), little endian.

    Bit b of word (p, i) says whether dimension 64p + b of vector i is above the mean.
    """
    signs = vectors > mean
    words = np.packbits(signs, axis=1, bitorder="little").view("<u8")
    return np.ascontiguousarray(words.T)
