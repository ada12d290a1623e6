"""Vectors in the two forms that a pack holds: int8 rows, and bits in planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

MIN_LANGUAGE = 32
"""Chunks that a language needs for a mean of its own; one with fewer shares that of all."""


def language_means(vectors: Floats, langs: Sequence[str]) -> dict[str, Floats]:
    """Return the mean vector of all chunks, under '', and of each language's with enough chunks."""
    if not len(vectors):
        return {}
    means = {"": vectors.mean(axis=0)}
    labels = np.array(langs)
    for lang in sorted(set(langs)):
        of_lang = labels == lang
        if of_lang.sum() >= MIN_LANGUAGE:
            means[lang] = vectors[of_lang].mean(axis=0)
    return means


def centre(vectors: Floats, langs: Sequence[str], means: Mapping[str, Floats]) -> Floats:
    """Return unit vectors, float32 (n, dims), without the mean of each chunk's language.

    A multilingual model puts the texts of one language near each other. What is left without the
    language's mean is what a text is about, so that an answer in another language is found.
    """
    centred = np.empty_like(vectors)
    labels = np.array([lang if lang in means else "" for lang in langs])
    for lang, mean in means.items():
        of_lang = labels == lang
        centred[of_lang] = vectors[of_lang] - mean
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    # Rounding is all that is left of a vector that is its own mean.
    meaningful = lengths > 1e-5
    return np.where(meaningful, centred / np.maximum(lengths, 1e-5), 0).astype(np.float32)


def quantize(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return int8 (n, dims) and float32 scales (n,), with ``vector ≈ int8 * scale``."""
    scales = np.abs(vectors).max(axis=1, initial=0) / np.float32(127)
    scales[scales == 0] = 1
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def binary_planes(vectors: Floats) -> npt.NDArray[np.uint64]:
    """Return the signs of ``vectors`` as uint64 (dims / 64, n), little endian.

    Bit b of word (p, i) says whether dimension 64p + b of vector i is above zero. Dimensions that
    do not fill a word are padded with zeros.
    """
    signs = np.packbits(vectors > 0, axis=1, bitorder="little")
    words = np.pad(signs, ((0, 0), (0, -signs.shape[1] % 8))).view("<u8")
    return np.ascontiguousarray(words.T)
