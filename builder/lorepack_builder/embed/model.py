"""The model that a recipe names."""

from __future__ import annotations

from pathlib import Path

from lorepack.models.convert import install_model_folder
from lorepack.models.endpoint import endpoint_model
from lorepack.models.registry import NO_MODEL, OPENAI, ModelSpec, find_model


def resolve_model(name: str) -> ModelSpec | None:
    """Return the model that ``[embed] model`` means, None for ``none``.

    A folder is copied into the user's cache, so that packs built with it can be asked here.

    Raises:
        LorepackError: there is none, or its endpoint does not answer.
    """
    if name == NO_MODEL:
        return None
    if name.startswith(OPENAI):
        return endpoint_model(name)
    return install_model_folder(Path(name)) if Path(name).is_absolute() else find_model(name)
