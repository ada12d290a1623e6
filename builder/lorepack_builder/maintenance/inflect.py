"""Words in another form of theirs: ``plugins``, ``eklentilerin``."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import snowballstemmer

from lorepack_builder.maintenance.normalize import fold_in_place

_ALGORITHMS = {
    "da": "danish", "de": "german", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
}  # fmt: skip
_SHORTEST = 4
"""Letters of a word whose stem is trusted."""
# Snowball takes too much off Turkish nouns (eklenti → ekle). Their endings, folded: plural,
# possessive, case, -ki; a last k, p, ç or t may soften before a vowel.
_TURKISH_PLURAL = re.compile(r"l[ae]ri?$")
_TURKISH_ENDINGS = re.compile(
    r"(?:l[ae]r)?(?:[iu]m[iu]z|[iu]n[iu]z|s?[iu]|[iu]?[mn])?"
    r"(?:[yn]?[iuea]|n?[dt][ea]n?|n?[iu]n|y?l[ea]|c[ea])?(?:ki(?:l[ae]r)?)?"
)
_SIBILANT_PLURALS = ("ses", "xes", "zes", "ches", "shes", "oes")
_SOFT = {"k": "g", "p": "b", "t": "d"}


def root(word: str, lang: str) -> str:
    """Return the part of a folded word that its other forms begin with."""
    if lang == "en":
        return word.removesuffix("s").removesuffix("e").removesuffix("i").removesuffix("y")
    if lang == "tr":
        base = _TURKISH_PLURAL.sub("", word) if len(word) > _SHORTEST + 2 else word
        return base[:-1] if base[-1:] in _SOFT and len(base) >= _SHORTEST else base
    stem = _stem(word, lang)
    return stem if word.startswith(stem) else word


def is_form(said: str, word: str, lang: str) -> bool:
    """Say whether ``said`` is a form of ``word``; both folded, ``lang`` is the word's."""
    if lang == "en":
        # Stems would take verbs for nouns: highlighted, highlighter.
        return said == word or said in singulars(word) or word in singulars(said)
    if lang != "tr":
        return said == word or (lang in _ALGORITHMS and _stem(said, lang) == _stem(word, lang))
    base = _TURKISH_PLURAL.sub("", word) if len(word) > _SHORTEST + 2 else word
    soft = base[:-1] + _SOFT.get(base[-1:], base[-1:])
    return any(
        said.startswith(start) and _TURKISH_ENDINGS.fullmatch(said, len(start)) is not None
        for start in {base, soft}
    )


def singulars(word: str) -> list[str]:
    """Return what an English word in lower case may be the plural of."""
    if not word.isascii() or len(word) < _SHORTEST or not word.endswith("s"):
        return []
    stemmer = snowballstemmer.stemmer("english")
    found = [word[:-1]]
    if word.endswith("ies"):
        found.append(f"{word[:-3]}y")
    elif word.endswith(_SIBILANT_PLURALS):
        found.append(word[:-2])
    # ``news`` is no plural of ``new``, nor ``css`` of ``cs``: their stems differ.
    return [one for one in found if stemmer.stemWord(one) == stemmer.stemWord(word)]


@lru_cache(maxsize=1 << 16)
def _stem(word: str, lang: str) -> str:
    """Return a word's stem, folded; the word where the language's stems are not known."""
    if lang not in _ALGORITHMS or len(word) < _SHORTEST:
        return word
    return fold_in_place(str(_stemmer(lang).stemWord(word)))


@cache
def _stemmer(lang: str) -> Any:
    return snowballstemmer.stemmer(_ALGORITHMS[lang])
