"""What makes ranking fast must not change what it finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack.index.vectors import binary_planes
from lorepack_server.packs.mount import Mount, mount_pack
from lorepack_server.retrieve import dense as meaning
from lorepack_server.retrieve.maxscore import Term, best_chunks


@st.composite
def terms(draw: st.DrawFn) -> tuple[int, list[Term]]:
    """A pack's size, and terms from one chunk's to nearly all chunks'."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chunks = draw(st.integers(1, 3000))
    made = []
    for _ in range(draw(st.integers(1, 12))):
        count = max(1, int(chunks * draw(st.sampled_from([0.0, 0.002, 0.05, 0.3, 0.9]))))
        ids = np.sort(rng.choice(chunks, count, replace=False) + 1).astype(np.uint32)
        impacts = rng.integers(1, 256, count).astype(np.uint8)
        made.append(Term(count, float(np.log(1 + chunks / count)), ids, impacts))
    return chunks, made


@given(terms(), st.integers(1, 120), st.booleans())
@settings(max_examples=200, deadline=None)
def test_cutting_lists_short_finds_the_same(
    given_terms: tuple[int, list[Term]], limit: int, filtered: bool
) -> None:
    chunks, made = given_terms
    allowed = np.arange(1, chunks + 1, 3) if filtered else None
    exact = np.zeros(chunks + 1)
    for term in made:
        exact[term.chunks] += term.impacts.astype(np.float64) * float(term.factor)
    if allowed is not None:
        exact[np.setdiff1d(np.arange(chunks + 1), allowed)] = 0
    best, scores = best_chunks(made, chunks, allowed, limit)
    assert len(best) == min(limit, np.count_nonzero(exact)) == len(set(best.tolist()))
    # Scores that agree in all digits of a float32 may change places.
    assert np.allclose(scores, np.sort(exact)[::-1][: len(best)], rtol=1e-4)
    assert np.allclose(scores, exact[best], rtol=1e-4)
    assert np.all(np.diff(scores) <= 0)


@pytest.fixture(scope="module")
def synthetic(demo_pack: Path) -> Mount:
    """Planes of 9,000 random vectors."""
    vectors = np.random.default_rng(0).normal(size=(9000, 384)).astype(np.float32)
    planes = binary_planes(vectors)
    return replace(mount_pack(demo_pack), planes=planes)


def test_sifting_keeps_the_nearest_signs(synthetic: Mount) -> None:
    vectors = np.random.default_rng(0).normal(size=(9000, 384)).astype(np.float32)
    signs = np.where(vectors > 0, 1, -1)
    question = vectors[4321] + np.random.default_rng(1).normal(size=384).astype(np.float32)
    kept = meaning._nearest_in_bits(synthetic, question, None)
    assert len(kept) == len(set(kept.tolist())) == meaning.RESCORED and 4321 in kept
    by_hand = np.argsort(-(signs @ question), kind="stable")[:50]
    assert np.isin(by_hand, kept).mean() > 0.95
    odd = np.arange(1, 9000, 2)
    assert set(meaning._nearest_in_bits(synthetic, question, odd).tolist()) <= set(odd.tolist())
