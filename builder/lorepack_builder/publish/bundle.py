"""An MCP bundle: a pack with the server that answers from it, installed in one click.

The host starts it by uv, which fetches Python and the libraries that the server needs; the server
itself and the pack are in the bundle. https://github.com/anthropics/mcpb, manifest version 0.4.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, requires
from importlib.resources import files
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from lorepack.models.registry import MODELS
from lorepack.pack.inspect import Inspection
from lorepack_builder.cache.code_digest import files_below

_MODEL_EXTRA = 'extra == "model"'
_CODE = ("lorepack", "lorepack_server", "lorepack_templates")
_MOMENT = (1980, 1, 1, 0, 0, 0)
"""The first that a zip archive can hold."""
_PACK = "pack.lorepack"
_PROJECT = """[project]
name = "lorepack-bundle"
version = "1.0.0"
requires-python = ">=3.11"
dependencies = {needs}
"""


def write_bundle(pack: Path, facts: Inspection, target: Path) -> None:
    """Write the bundle of ``pack`` to ``target``. Raises `OSError` if it cannot be written."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, data in _texts(facts):
            bundle.writestr(_entry(name), data, compresslevel=9)
        entry = _entry(_PACK)
        entry.file_size = pack.stat().st_size
        with pack.open("rb") as source, bundle.open(entry, "w") as out:
            while part := source.read(1 << 20):
                out.write(part)


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry that is the same wherever and whenever it is made."""
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.external_attr, entry.create_system = 0o644 << 16, 3
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def requirements(facts: Inspection) -> list[str]:
    """Return what the server of a pack needs, in the versions that this Lorepack asks for."""
    embedder = facts.meta["embedder"]
    made_here = embedder is not None and embedder["id"] in MODELS and not facts.carries_encoder
    needs = [Requirement(text) for text in requires("lorepack") or ()]
    base = [need for need in needs if "extra ==" not in str(need.marker)]
    model = [need for need in needs if str(need.marker) == _MODEL_EXTRA] if made_here else []
    for need in model:
        need.marker = None
    return sorted(map(str, [*base, *model]))


def _texts(facts: Inspection) -> Iterator[tuple[str, bytes]]:
    yield "manifest.json", _json(_manifest(facts))
    needs = json.dumps(requirements(facts), indent=4)
    yield "pyproject.toml", _PROJECT.format(needs=needs).encode()
    yield "server/main.py", (files("lorepack_templates") / "bundle.py").read_bytes()
    # The server tells its version, which Python keeps in a package's metadata.
    lorepack = distribution("lorepack")
    yield (
        f"lib/lorepack-{lorepack.version}.dist-info/METADATA",
        (f"Metadata-Version: 2.1\nName: lorepack\nVersion: {lorepack.version}\n".encode()),
    )
    for package in _CODE:
        folder = package.replace(".", "/")
        for name, file in files_below(files(package)):
            yield f"lib/{folder}/{name}", file.read_bytes()


def _manifest(facts: Inspection) -> dict[str, Any]:
    meta = facts.meta
    run = ["run", "--directory", "${__dirname}", "server/main.py", _PACK]
    return {
        "manifest_version": "0.4",
        "name": meta["name"],
        "display_name": meta["title"],
        "version": meta["version"],
        "description": f"{meta['title']}: {meta['counts']['pages']} pages to ask, cited.",
        "author": {"name": "Lorepack"},
        "server": {
            "type": "uv",
            "entry_point": "server/main.py",
            "mcp_config": {"command": "uv", "args": run},
        },
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": ["lorepack", *meta["languages"]],
        "compatibility": {"platforms": ["darwin", "linux", "win32"]},
    }


def _json(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()
