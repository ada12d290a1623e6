"""Run a cross-encoder: a question and a passage in, one score out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lorepack.models.convert import model_folder
from lorepack.models.encoder import load_tokenizer
from lorepack.models.registry import RERANKER, ModelSpec
from lorepack.models.session import open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[attr-defined]
    from tokenizers import Tokenizer

LANGUAGES = frozenset({"en"})
"""What the cross-encoder was trained on."""


@dataclass(frozen=True)
class CrossEncoder:
    """A loaded model. Calls may come from several threads at once."""

    spec: ModelSpec
    tokenizer: Tokenizer
    session: InferenceSession

    def score(self, question: str, passage: str) -> float:
        """Return how well ``passage`` answers ``question``: a logit, more is better."""
        encoding = self.tokenizer.encode(question, passage)
        feed = {
            "input_ids": np.array([encoding.ids], np.int64),
            "attention_mask": np.array([encoding.attention_mask], np.int64),
            "token_type_ids": np.array([encoding.type_ids], np.int64),
        }
        wanted = {item.name for item in self.session.get_inputs()}
        (logits, *_) = self.session.run(None, {k: v for k, v in feed.items() if k in wanted})
        return float(np.asarray(logits).reshape(-1)[0])


def load_cross_encoder(threads: int = 2) -> CrossEncoder:
    """Load the reranker. Raises `LorepackError` when its package is not installed."""
    session = open_session(model_folder(RERANKER) / "model.onnx", threads)
    tokenizer = load_tokenizer(RERANKER)
    tokenizer.enable_truncation(RERANKER.max_tokens, strategy="only_second")
    return CrossEncoder(RERANKER, tokenizer, session)
