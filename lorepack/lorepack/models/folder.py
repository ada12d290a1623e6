"""A folder as a model: ``model.onnx`` and ``tokenizer.json``, as sentence-transformers exports it.

``1_Pooling/config.json``, ``config_sentence_transformers.json`` and ``tokenizer_config.json`` say
how to pool, what to write before a text, and how many tokens fit; without them: mean, nothing, 512.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from lorepack.errors import LorepackError
from lorepack.models.registry import FOLDER, ModelSpec, weights_sha256
from lorepack.util.untrusted import tables

MODEL_FILES = ("model.onnx", "model.onnx.data", "model.onnx_data", "tokenizer.json")
_MOST_TOKENS = 512


def read_folder(folder: Path) -> ModelSpec:
    """Return the model in ``folder``; ``dims`` is what its graph declares.

    Raises:
        LorepackError: a file is missing, or none of onnxruntime's.
    """
    for name in ("model.onnx", "tokenizer.json"):
        if not (folder / name).is_file():
            raise LorepackError(f"{folder} has no {name}", "give the folder of an exported model")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    pooling = _json(folder / "1_Pooling" / "config.json")
    longest = _json(folder / "tokenizer_config.json").get("model_max_length")
    fits = int(longest) if isinstance(longest, (int, float)) and longest >= 8 else _MOST_TOKENS
    digests = [weights_sha256(folder / name) for name in MODEL_FILES]
    dims, pooled = _output(folder)
    return ModelSpec(
        id=f"{FOLDER}{re.sub(r'[^A-Za-z0-9._-]+', '-', folder.resolve().name)}",
        dims=dims,
        max_tokens=min(fits, _MOST_TOKENS),
        query_prefix=str(prompts.get("query", "")),
        passage_prefix=str(prompts.get("document", prompts.get("passage", ""))),
        pooling="none" if pooled else "cls" if pooling.get("pooling_mode_cls_token") else "mean",
        weights_sha256=hashlib.sha256("\n".join(digests).encode()).hexdigest(),
    )


def install_folder(spec: ModelSpec, source: Path, target: Path) -> None:
    """Copy the model's files to ``target``, so that packs built with it find it later."""
    target.mkdir(parents=True, exist_ok=True)
    for name in MODEL_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return tables(data)


def _output(folder: Path) -> tuple[int, bool]:
    """Return the dims of the first output, and whether it is one vector a text already."""
    from lorepack.models.session import open_session

    shape = open_session(folder / "model.onnx").get_outputs()[0].shape
    if not isinstance(shape[-1], int):
        raise LorepackError(
            f"{folder / 'model.onnx'} does not say how long its vectors are", "export it again"
        )
    return shape[-1], len(shape) == 2
