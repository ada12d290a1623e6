"""Embed: chunks → vectors, each text embedded once and then remembered by its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorepack.builder.embed.cache import VectorCache
from lorepack.builder.model import Chunk, Page
from lorepack.packfile.models.encoder import load_encoder
from lorepack.packfile.models.registry import ModelSpec

_SAVE_EVERY = 256


@dataclass(frozen=True)
class Embedded:
    """Unit vectors, float32 (chunks, dims), and how many of them were new."""

    vectors: npt.NDArray[np.float32]
    new: int


def embedding_text(page: Page, chunk: Chunk) -> str:
    """Return what is embedded for a chunk: title and heading path, then its text."""
    path = " > ".join(heading for heading in chunk.headings if heading != page.title)
    return "\n".join(part for part in (page.title, path, chunk.text) if part)


def text_hash(text: str) -> str:
    """Return the hex SHA-256 by which a text's vector is remembered."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def embed_texts(
    texts: Sequence[str], spec: ModelSpec, on_progress: Callable[[int, int], None]
) -> Embedded:
    """Return the vectors of ``texts``; equal texts and known ones cost nothing.

    Args:
        on_progress: called with (done, all) of the texts that are new.

    Raises:
        LorepackError: the model is not installed.
    """
    hashes = [text_hash(text) for text in texts]
    vectors = np.zeros((len(texts), spec.dims), np.float32)
    with VectorCache(spec) as cache:
        known = cache.get(set(hashes))
        missing = {h: text for h, text in zip(hashes, texts, strict=True) if h not in known}
        if missing:
            encoder = load_encoder(spec)
            done = 0
            items = list(missing.items())
            for start in range(0, len(items), _SAVE_EVERY):
                batch = dict(items[start : start + _SAVE_EVERY])
                new = encoder.encode_passages(
                    list(batch.values()),
                    lambda count, done=done: on_progress(done + count, len(items)),  # type: ignore[misc]
                )
                fresh = dict(zip(batch, new, strict=True))
                cache.put(fresh)
                known.update(fresh)
                done += len(batch)
        for row, key in enumerate(hashes):
            vectors[row] = known[key]
    return Embedded(vectors, len(missing))
