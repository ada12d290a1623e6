"""Run a model: text in, unit vectors out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from lorepack.models.convert import PIECES, model_folder
from lorepack.models.endpoint import Endpoint
from lorepack.models.pieces import Tokenize, load_pieces, pieces_model, pieces_of
from lorepack.models.registry import DEFAULT_MODEL, OPENAI, ModelSpec
from lorepack.models.session import open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[attr-defined]
    from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Whatever turns texts into unit vectors. Calls may come from several threads at once."""

    @property
    def spec(self) -> ModelSpec:
        """The model."""

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a question, float32 (dims,)."""

    def encode_passages(
        self, texts: Sequence[str], on_done: Callable[[int], None] = lambda _: None
    ) -> Vectors:
        """Return the unit vectors of passages, float32 (len(texts), dims).

        ``on_done`` is called with the number finished so far.
        """


@dataclass(frozen=True)
class OnnxEncoder:
    """A model that runs here."""

    spec: ModelSpec
    tokenize: Tokenize
    session: InferenceSession
    inputs: frozenset[str]
    side_by_side: int | None = None
    """Passages that run at a time; None for one a core."""

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a question, float32 (dims,)."""
        return self._encode(self.spec.query_prefix + text)

    def encode_passages(
        self, texts: Sequence[str], on_done: Callable[[int], None] = lambda _: None
    ) -> Vectors:
        """Return the unit vectors of passages, float32 (len(texts), dims).

        Each text runs by itself, so that its vector does not depend on its neighbours; several
        run side by side, the longest first.
        """
        vectors = np.zeros((len(texts), self.spec.dims), np.float32)
        longest_first = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        with ThreadPoolExecutor(self.side_by_side or os.cpu_count()) as pool:
            prefixed = (self.spec.passage_prefix + texts[i] for i in longest_first)
            done = pool.map(self._encode, prefixed)
            for count, (index, vector) in enumerate(zip(longest_first, done, strict=True), 1):
                vectors[index] = vector
                on_done(count)
        return vectors

    def _encode(self, text: str) -> Vectors:
        ids = self.tokenize(text)
        limit = self.spec.max_tokens
        if len(ids) > limit:
            ids = [*ids[: limit - 1], ids[-1]]
        (output, *_) = self.session.run(None, self._feed(ids))
        vector = self._pool(np.asarray(output, np.float32)[0])
        length = float(np.linalg.norm(vector))
        # A model that normalises keeps its own bits.
        return vector if abs(length - 1) < 1e-4 else vector / max(length, 1e-12)

    def _feed(self, ids: Sequence[int]) -> Mapping[str, npt.NDArray[np.int64]]:
        feed = {"input_ids": np.array([ids], np.int64)}
        if "attention_mask" in self.inputs:
            feed["attention_mask"] = np.ones((1, len(ids)), np.int64)
        if "token_type_ids" in self.inputs:
            feed["token_type_ids"] = np.zeros((1, len(ids)), np.int64)
        return feed

    def _pool(self, output: Vectors) -> Vectors:
        if output.ndim == 1:
            return output
        pooled: Vectors = output[0] if self.spec.pooling == "cls" else output.mean(axis=0)
        return pooled


def load_encoder(spec: ModelSpec, threads: int = 1, side_by_side: int | None = None) -> Encoder:
    """Load a model, converting it first if need be.

    Args:
        threads: of one text; builds want 1, as texts run side by side.
        side_by_side: passages that run at a time; None for one a core.

    Raises:
        LorepackError: its weights are not installed or not the known ones, or no endpoint is set.
    """
    if spec.id.startswith(OPENAI):
        return Endpoint.from_environment(spec)
    folder = model_folder(spec)
    session = open_session(folder / "model.onnx", threads)
    if spec.id == DEFAULT_MODEL:
        return _onnx(spec, load_pieces(folder / PIECES), session, side_by_side)
    return _onnx(spec, _ids(load_tokenizer(spec)), session, side_by_side)


def carried_encoder(spec: ModelSpec, model: bytes, tokenizer: bytes, threads: int = 1) -> Encoder:
    """Load the encoder that a pack carries. Raises `LorepackError` when it cannot be used."""
    session = open_session(model, threads)
    if spec.id == DEFAULT_MODEL:
        return _onnx(spec, load_pieces(pieces_model(*pieces_of(tokenizer))), session)
    from tokenizers import Tokenizer

    return _onnx(spec, _ids(Tokenizer.from_buffer(tokenizer)), session)


def _ids(tokenizer: Tokenizer) -> Tokenize:
    def tokenize(text: str) -> Sequence[int]:
        ids: list[int] = tokenizer.encode(text).ids
        return ids

    return tokenize


def load_tokenizer(spec: ModelSpec) -> Tokenizer:
    """Load only the tokenizer of a model. Raises `LorepackError` as `load_encoder` does."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model_folder(spec) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _onnx(
    spec: ModelSpec, tokenize: Tokenize, session: InferenceSession, side_by_side: int | None = None
) -> OnnxEncoder:
    inputs = frozenset(item.name for item in session.get_inputs())
    return OnnxEncoder(spec, tokenize, session, inputs, side_by_side)
