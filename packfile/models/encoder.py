"""Run a converted model: text in, unit vectors out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lorepack.packfile.models.convert import converted_model
from lorepack.packfile.models.registry import ModelSpec

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[attr-defined]
    from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Encoder:
    """A loaded model. Calls may come from several threads at once."""

    spec: ModelSpec
    tokenizer: Tokenizer
    session: InferenceSession

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a question, float32 (dims,)."""
        return self._encode(self.spec.query_prefix + text)

    def encode_passages(
        self, texts: Sequence[str], on_done: Callable[[int], None] = lambda _: None
    ) -> Vectors:
        """Return the unit vectors of passages, float32 (len(texts), dims).

        Each text runs by itself, so that its vector does not depend on its neighbours; several
        run side by side. ``on_done`` is called with the number finished so far.
        """
        vectors = np.zeros((len(texts), self.spec.dims), np.float32)
        longest_first = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            prefixed = (self.spec.passage_prefix + texts[i] for i in longest_first)
            done = pool.map(self._encode, prefixed)
            for count, (index, vector) in enumerate(zip(longest_first, done, strict=True), 1):
                vectors[index] = vector
                on_done(count)
        return vectors

    def _encode(self, text: str) -> Vectors:
        ids = self.tokenizer.encode(text).ids
        limit = self.spec.max_tokens
        if len(ids) > limit:
            ids = [*ids[: limit - 1], ids[-1]]
        (vectors,) = self.session.run(None, {"input_ids": np.array([ids], np.int64)})
        return np.asarray(vectors, np.float32).reshape(self.spec.dims)


def load_encoder(spec: ModelSpec, threads: int = 1) -> Encoder:
    """Load a model, converting it first if need be.

    Args:
        threads: of one text; builds want 1, as texts run side by side.

    Raises:
        LorepackError: its weights are not installed or not the known ones.
    """
    folder = converted_model(spec)
    from onnxruntime import (  # type: ignore[attr-defined]
        InferenceSession,
        SessionOptions,
    )

    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = InferenceSession(
        str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    return Encoder(spec, load_tokenizer(spec), session)


def load_tokenizer(spec: ModelSpec) -> Tokenizer:
    """Load only the tokenizer of a model. Raises `LorepackError` as `load_encoder` does."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(converted_model(spec) / "tokenizer.json"))
