"""Embed: chunks → vectors, each text embedded once and then remembered by its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lorepack.models.encoder import Encoder, load_encoder
from lorepack.models.registry import OPENAI, ModelSpec
from lorepack_builder.cache.embedded import Vector, VectorCache
from lorepack_builder.engine import Engine
from lorepack_builder.engine.local import LOCAL
from lorepack_builder.model import Chunk, Page

_SAVE_EVERY = 256
_A_BATCH = 32
"""Texts that a worker gets at a time: some seconds of work."""
_Texts = Sequence[tuple[str, str]]
"""Texts with their hashes."""


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
    texts: Sequence[str], spec: ModelSpec, on_progress: Callable[[int, int], None],
    engine: Engine = LOCAL,
) -> Embedded:  # fmt: skip
    """Return the vectors of ``texts``; equal texts and known ones cost nothing.

    Args:
        on_progress: called with (done, all) of the texts that are new.
        engine: where it is done; an endpoint is asked from here.

    Raises:
        LorepackError: the model is not installed.
    """
    hashes = [text_hash(text) for text in texts]
    vectors = np.zeros((len(texts), spec.dims), np.float32)
    with VectorCache(spec) as cache:
        known = cache.get(set(hashes))
        missing = {h: text for h, text in zip(hashes, texts, strict=True) if h not in known}
        items = list(missing.items())
        if engine.embeds and not spec.id.startswith(OPENAI):
            encoded = _spread(items, spec, on_progress, engine)
        else:
            encoded = _encode_here(items, spec, on_progress)
        for fresh in encoded:
            cache.put(fresh)
            known.update(fresh)
        for row, key in enumerate(hashes):
            vectors[row] = known[key]
    return Embedded(vectors, len(missing))


def _encode_here(
    items: _Texts, spec: ModelSpec, on_progress: Callable[[int, int], None]
) -> Iterator[dict[str, Vector]]:
    if not items:
        return
    encoder = load_encoder(spec)
    for start in range(0, len(items), _SAVE_EVERY):
        batch = dict(items[start : start + _SAVE_EVERY])
        new = encoder.encode_passages(
            list(batch.values()),
            lambda count, start=start: on_progress(start + count, len(items)),  # type: ignore[misc]
        )
        yield dict(zip(batch, new, strict=True))


def _spread(
    items: _Texts, spec: ModelSpec, on_progress: Callable[[int, int], None], engine: Engine
) -> Iterator[dict[str, Vector]]:
    batches = [items[start : start + _A_BATCH] for start in range(0, len(items), _A_BATCH)]
    done = 0
    given = ((spec, [text for _, text in batch]) for batch in batches)
    for batch, new in zip(batches, engine.spread(_encode_batch, given), strict=True):
        done += len(batch)
        on_progress(done, len(items))
        yield {key: vector for (key, _), vector in zip(batch, new, strict=True)}


def _encode_batch(given: tuple[ModelSpec, Sequence[str]]) -> npt.NDArray[np.float32]:
    """Return the vectors of texts, float32 (texts, dims), made by one thread."""
    spec, texts = given
    return _encoder(spec).encode_passages(texts)


@lru_cache(maxsize=1)
def _encoder(spec: ModelSpec) -> Encoder:
    return load_encoder(spec, side_by_side=1)
