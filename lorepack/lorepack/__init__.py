"""Compile knowledge into packs, and ask them.

    import lorepack

    result = lorepack.build("notes", out="out")
    with lorepack.open(result.pack) as pack:
        for hit in pack.search("how do I install it?"):
            print(hit.citation_url, hit.text)

Importing this costs nothing: what reads packs and what builds them is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lorepack.errors import LorepackError, PackDamagedError

if TYPE_CHECKING:
    from lorepack_builder.public import BuildResult, build
    from lorepack_server.public import Pack, open

__all__ = ["BuildResult", "LorepackError", "Pack", "PackDamagedError", "build", "open"]

# By name, as the core imports neither of the two that stand on it.
_LOADED_FROM = {
    "BuildResult": "lorepack_builder.public", "build": "lorepack_builder.public",
    "Pack": "lorepack_server.public", "open": "lorepack_server.public",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load what is asked for.

    Raises:
        AttributeError: there is no such name.
        LorepackError: what it needs is not installed.
    """
    if name not in _LOADED_FROM:
        raise AttributeError(f"module 'lorepack' has no attribute {name!r}")
    try:
        return getattr(import_module(_LOADED_FROM[name]), name)
    except ModuleNotFoundError as error:
        raise LorepackError(
            f"lorepack.{name} needs the extra `build` ({error.name} is not installed)",
            "pip install 'lorepack[build]'",
        ) from error


def __dir__() -> list[str]:
    return sorted(__all__)
