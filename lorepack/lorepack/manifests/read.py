"""Read manifests, of which nothing is trusted."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

MAX_BYTES = 1_000_000
_NAMESPACE = re.compile(r"^\{[^}]*\}")
_NO_XML = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


class Unreadable(Exception):
    """A manifest that is not read; the text says why."""


def read_text(path: Path) -> str:
    """Return a manifest's text.

    Raises:
        Unreadable: it is no plain file, too large, or no text.
    """
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("is a link, or no file")
        if about.st_size > MAX_BYTES:
            raise Unreadable(f"is larger than {MAX_BYTES // 1000} kB")
        data = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror})") from error
    if b"\0" in data:
        raise Unreadable("holds a NUL character")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("is not valid UTF-8") from error


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object."""
    return _table(path, json.loads)


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML table."""
    return _table(path, tomllib.loads)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return a YAML mapping; anchors that would multiply it are refused."""
    text = read_text(path)
    if len(re.findall(r"(?m)[\[\s,:]\*\w", text)) > 100:
        raise Unreadable("repeats too much of itself")
    # Texts stay texts: 1.10 is a version, not a number.
    return _parsed(text, lambda given: yaml.load(given, Loader=yaml.BaseLoader))  # noqa: S506


def read_xml(path: Path) -> ElementTree.Element:
    """Return an XML document's root, its names without namespaces; it may declare no entity."""
    text = read_text(path)
    if _NO_XML.search(text):
        raise Unreadable("declares a document type")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314
    except (ElementTree.ParseError, RecursionError, ValueError) as error:
        raise Unreadable(f"is no XML ({error})") from error
    for element in root.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
    return root


def child_text(element: ElementTree.Element | None, path: str) -> str:
    """Return the text of an element below, without spaces around it, or ''."""
    found = element.find(path) if element is not None else None
    return (found.text or "").strip() if found is not None else ""


def _table(path: Path, load: Any) -> dict[str, Any]:
    return _parsed(read_text(path), load)


def _parsed(text: str, load: Any) -> dict[str, Any]:
    try:
        value = load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = str(error).split("\n", 1)[0]
        raise Unreadable(f"cannot be understood ({reason})") from error
    if not isinstance(value, dict):
        raise Unreadable("holds no table")
    return value
