"""Split text into the tokens of the words index; the same for build and query.

A token is folded: NFKC, lower case in which İ, I, ı and i meet, Latin diacritics taken off.
ASCII words become English stems (Snowball). Identifiers count whole and in parts:
``HALYARD_DISPATCH_TIMEOUT``, ``getHTTPServer``, ``std::vector``, ``--dry-run``, ``v3.1.0``.
Scripts without spaces become overlapping bigrams.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

import snowballstemmer

SEGMENTER_VERSION = 1

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = rf"(?:[^\W{UNSPACED}]|[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u065f\u0900-\u0dff])+"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<compound>(?:(?<![\w-])--?|(?<!\S)[.@$]|(?<!\S)~/)?"
    rf"{_WORD}(?:(?:::|->|[./\\:@#+-]|['’]){_WORD})*(?:\+\+|#)?)"
)
_PARTS = re.compile(_WORD)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_UNCASED = re.compile(r"\d+|[^\d_]+")
_SIGNS = "-.@$~/+#"
_APOSTROPHE = re.compile(r"['’].*$")
_MARKS = re.compile(r"[\u0300-\u036f]")
_ASCII_WORD = re.compile(r"[a-z]+")
_MAX_TOKEN = 64

_stemmers = threading.local()
"""A stemmer keeps the word it works on, so that every thread has one of its own."""


def segment(text: str) -> list[str]:
    """Return the tokens of ``text`` in order, for the index.

    A run of unspaced script ends with its last character alone, so that a one-character query
    finds it wherever it stands, as a prefix.
    """
    return [token for run in _runs(text) for token in run]


def segment_query(text: str) -> list[list[str]]:
    """Return the tokens of ``text``, one list a word.

    An identifier's whole form comes first. A plain word has its stem, then itself where that
    differs, as an identifier may be asked for in lower case (``gethttpserver``).
    """
    return [_without_tail(run) for run in _runs(text, with_word=True)]


def is_plain_word(tokens: Sequence[str]) -> bool:
    """Return whether a word of `segment_query` is no identifier."""
    return len(tokens) == 1 or (len(tokens) == 2 and _stem(tokens[1]) == tokens[0])


def _without_tail(run: tuple[str, ...]) -> list[str]:
    unspaced_with_tail = len(run) > 1 and len(run[-1]) == 1 and run[-2].endswith(run[-1])
    return list(run[:-1]) if unspaced_with_tail and not run[-1].isascii() else list(run)


def _runs(text: str, with_word: bool = False) -> Iterator[tuple[str, ...]]:
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        run = match.group()
        tokens = _bigrams(run) if match.lastgroup == "unspaced" else _expand(run)
        if with_word and len(tokens) == 1 and (word := fold(_APOSTROPHE.sub("", run))) != tokens[0]:
            tokens += (word[:_MAX_TOKEN],)
        if tokens:
            yield tokens


def _bigrams(run: str) -> tuple[str, ...]:
    return (*(run[i : i + 2] for i in range(len(run) - 1)), run[-1])


@lru_cache(maxsize=1 << 16)
def _expand(compound: str) -> tuple[str, ...]:
    """Return the folded whole; when it has parts or signs, those words of it that are identifiers
    themselves (``getName`` of ``getName.js``), and the stems of all parts.
    """
    compound = _APOSTROPHE.sub("", compound)
    words = _PARTS.findall(compound)
    parts = [part for word in words for part in _split_word(word)]
    whole = fold(compound)[:_MAX_TOKEN]
    if len(parts) == 1 and whole == fold(parts[0]):
        return (_stem(whole),) if whole else ()
    stems = [_stem(fold(part))[:_MAX_TOKEN] for part in parts]
    telling = [stem for stem in stems if len(stem) > 1 or not stem.isascii()] or stems
    named = [fold(word)[:_MAX_TOKEN] for word in words if len(_split_word(word)) > 1]
    forms = dict.fromkeys([whole, whole.strip(_SIGNS) or whole, *named, *telling])
    return tuple(form for form in forms if form)


def _split_word(word: str) -> list[str]:
    return (_CAMEL if word.isascii() else _UNCASED).findall(word)


def fold(text: str) -> str:
    """Lower ``text`` so that İ, I, ı and i meet, and take Latin diacritics off."""
    lowered = text.replace("İ", "i").replace("ı", "i").casefold()
    if lowered.isascii():
        return lowered
    decomposed = unicodedata.normalize("NFD", lowered)
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


def _stem(word: str) -> str:
    return _stem_word(word) if _ASCII_WORD.fullmatch(word) else word


@lru_cache(maxsize=1 << 16)
def _stem_word(word: str) -> str:
    stemmer = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = snowballstemmer.stemmer("english")
    return str(stemmer.stemWord(word))
