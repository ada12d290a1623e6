"""From segmented chunks to the postings of every term."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from lorepack.index.postings import WEIGHTS, encode_postings, impacts


def term_postings(rows: Sequence[tuple[str, str, str, str]]) -> Iterator[tuple[str, int, bytes]]:
    """Yield (term, chunks, postings), in the order of terms.

    Args:
        rows: title, headings, body and path of each chunk as tokens; the first is chunk 1.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    terms = array("I")
    occurrences = np.zeros((len(rows), len(WEIGHTS)), np.int64)
    for row, columns in enumerate(rows):
        for place, column in enumerate(columns):
            tokens = column.split()
            terms.extend([numbers[token] for token in tokens])
            occurrences[row, place] = len(tokens)
    if not terms:
        return
    lengths = occurrences.sum(axis=1).astype(np.float32)
    weights = np.repeat(np.tile(np.array(WEIGHTS, np.float32), len(rows)), occurrences.ravel())
    chunks = np.repeat(np.arange(len(rows), dtype=np.uint64), occurrences.sum(axis=1))
    pairs = (np.frombuffer(terms, np.uint32).astype(np.uint64) << np.uint64(32)) | chunks
    unique, inverse = np.unique(pairs, return_inverse=True)
    frequencies = np.bincount(inverse, weights).astype(np.float32)
    own = (unique & np.uint64(0xFFFFFFFF)).astype(np.int64)
    weighed = impacts(frequencies, lengths[own], float(lengths.mean()))
    bounds = np.searchsorted(unique >> np.uint64(32), np.arange(len(numbers) + 1))
    ids = (own + 1).astype(np.uint32)
    for term in sorted(numbers):
        begin, end = bounds[numbers[term]], bounds[numbers[term] + 1]
        yield term, int(end - begin), encode_postings(ids[begin:end], weighed[begin:end])
