"""The postings of a term: in which chunks it stands, and what it says about each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

K1, B = 1.2, 0.75
"""BM25's parameters (Robertson, Zaragoza 2009), as FTS5 has them."""
WEIGHTS = (4.0, 2.0, 1.0, 2.0)
"""What an occurrence in title, headings, body and path counts for."""
IMPACT_STEP = np.float32((K1 + 1) / 255)
"""An impact of 255 is the most that BM25 gives to one term, before its rarity."""


def encode_postings(chunks: npt.NDArray[np.uint32], impacts: npt.NDArray[np.uint8]) -> bytes:
    """Return uint32[n] chunk ids, little endian and ascending, then uint8[n] impacts."""
    return chunks.astype("<u4").tobytes() + impacts.tobytes()


def decode_postings(data: bytes) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """Return chunk ids and impacts. Raises ValueError when ``data`` is no whole number of them."""
    count, rest = divmod(len(data), 5)
    if rest:
        raise ValueError(f"postings of {len(data)} bytes")
    return np.frombuffer(data, "<u4", count), np.frombuffer(data, np.uint8, count, count * 4)


def impacts(
    frequencies: npt.NDArray[np.float32], lengths: npt.NDArray[np.float32], mean_length: float
) -> npt.NDArray[np.uint8]:
    """Return BM25's weight of each occurrence without the term's rarity, in 255 steps, at least 1.

    Args:
        frequencies: how often the term stands in the chunk, weighed by `WEIGHTS`.
        lengths: tokens of the chunk.
    """
    norm = K1 * (1 - B + B * lengths / max(mean_length, 1.0))
    weight = frequencies * (K1 + 1) / (frequencies + norm)
    return np.clip(np.rint(weight / IMPACT_STEP), 1, 255).astype(np.uint8)
