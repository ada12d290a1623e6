"""Bytes of a text file → text with ``\\n`` line ends, and what was wrong with them."""

from __future__ import annotations

import codecs
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Decoded:
    """Text in NFC, and (line, problem) for each thing that had to be mended."""

    text: str
    problems: tuple[tuple[int, str], ...]


def decode(data: bytes) -> Decoded:
    """Decode UTF-8 (or UTF-16 with a byte order mark); never raises."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _finish(data.decode("utf-16", "replace"), [])
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return _finish(data.decode("utf-8"), [])
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _finish(data.decode("utf-8", "replace"), [(line, "is not valid UTF-8")])


def _finish(text: str, problems: list[tuple[int, str]]) -> Decoded:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        problems.append((text.count("\n", 0, text.index("\0")) + 1, "holds a NUL character"))
        text = text.replace("\0", "\ufffd")
    return Decoded(unicodedata.normalize("NFC", text), tuple(problems))
