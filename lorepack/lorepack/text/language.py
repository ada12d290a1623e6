"""Guess the language of a text from its letters and its most common words."""

from __future__ import annotations

import re
from collections import Counter

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]"), 0.05),
    ("ko", re.compile(r"[\uac00-\ud7af]"), 0.2),
    ("zh", re.compile(r"[\u4e00-\u9fff]"), 0.15),
    ("ru", re.compile(r"[\u0400-\u04ff]"), 0.4),
    ("ar", re.compile(r"[\u0600-\u06ff]"), 0.4),
    ("hi", re.compile(r"[\u0900-\u097f]"), 0.4),
    ("el", re.compile(r"[\u0370-\u03ff]"), 0.4),
    ("he", re.compile(r"[\u0590-\u05ff]"), 0.4),
    ("th", re.compile(r"[\u0e00-\u0e7f]"), 0.4),
)
# The most frequent function words of each language that hardly occur in the others.
_WORDS = {
    "en": "the and of to is in that for you it with are this be your can not",
    "tr": "ve bir bu için ile de da olarak veya gibi daha olan çok kadar sonra nasıl",
    "de": "der die und das ist nicht mit den ein eine sie zu auf für werden auch",
    "fr": "le les des et est une dans pour que qui pas sur avec vous",
    "es": "el los las y es una para que con por como más del se",
    "it": "il di che è per una con non sono della gli nel",
    "pt": "o os e uma para que com não por mais do da em um",
    "nl": "de het een en van is dat op te zijn voor niet met",
}
_LANGUAGE_OF = {word: lang for lang, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[^\W\d_]+")
_TURKISH = re.compile(r"[ğşıİĞŞ]")
_SAMPLE = 4000


def guess_language(text: str, default: str = "en", votes_needed: int = 4) -> str:
    """Return a language tag for ``text``; ``default`` when too few words speak for another."""
    sample = text[:_SAMPLE]
    letters = sum(map(len, _WORD.findall(sample))) or 1
    for lang, script, share in _SCRIPTS:
        if not sample.isascii() and len(script.findall(sample)) / letters >= share:
            return lang
    votes = Counter(
        _LANGUAGE_OF[word] for word in _WORD.findall(sample.lower()) if word in _LANGUAGE_OF
    )
    votes["tr"] += len(_TURKISH.findall(sample)) // 2
    best = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    return best[0][0] if best and best[0][1] >= votes_needed else default


def question_language(text: str) -> str:
    """Return the language of a question, which is short; '' when its letters are no English."""
    return guess_language(text, "en" if text.isascii() else "", votes_needed=1)
