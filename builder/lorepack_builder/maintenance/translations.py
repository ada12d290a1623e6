"""Tags that mean the same in different languages, told by the model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lorepack.index.vectors import Floats
from lorepack.text.tokenize import UNSPACED
from lorepack_builder.model import LinkedPage

Embed = Callable[[Sequence[str]], Floats]
"""Turns texts into unit vectors, float32 (texts, dims)."""

MIN_LIKENESS = 0.4
"""Cosine, without each language's mean, of a word and its translation; see docs/benchmarks.md."""
_MOST = 1_500
"""Tags that are compared: the most used ones."""
_TITLES = 64
"""Titles of a language's pages that help to find its mean."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LATIN = re.compile(r"[A-Za-z]")
_UNSPACED_LANGS = frozenset({"zh", "ja", "ko", "th", "lo", "my", "km"})


def translated_tags(pages: Sequence[LinkedPage], embed: Embed) -> dict[str, list[str]]:
    """Return for a tag those of other languages that mean the same.

    Two tags are translations if each is the other's nearest in its language, and near enough.
    """
    langs = _tag_languages(pages)
    by_lang: defaultdict[str, list[str]] = defaultdict(list)
    for tag, lang in langs.items():
        by_lang[lang].append(tag)
    if len(by_lang) < 2:
        return {}
    vectors = {lang: _centred(tags, lang, pages, embed) for lang, tags in sorted(by_lang.items())}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for lang, own in vectors.items():
        for other, theirs in vectors.items():
            if lang != other:
                for here, there in _mutual(own, theirs):
                    found[by_lang[lang][here]].append(by_lang[other][there])
    return found


def _tag_languages(pages: Sequence[LinkedPage]) -> dict[str, str]:
    """Return the language of each of the most used tags: its pages', if its script allows that."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in pages:
        for tag in item.page.tags:
            counts[tag][item.page.lang] += 1
    most = sorted(counts, key=lambda tag: (-counts[tag].total(), tag))[:_MOST]
    return {tag: _language(tag, counts[tag]) for tag in most}


def _language(tag: str, langs: Counter[str]) -> str:
    unspaced = _UNSPACED.search(tag) is not None
    if not unspaced and not _LATIN.search(tag):
        return langs.most_common(1)[0][0]
    fitting = [lang for lang, _ in langs.most_common() if (lang in _UNSPACED_LANGS) == unspaced]
    return fitting[0] if fitting else "zh" if unspaced else "en"


def _centred(tags: Sequence[str], lang: str, pages: Sequence[LinkedPage], embed: Embed) -> Floats:
    """Return the unit vectors of tags without the mean of what is as short in their language."""
    titles = [item.page.title for item in pages if item.page.lang == lang and not item.page.code]
    step = max(1, len(titles) // _TITLES)
    words = [re.sub(r"[-_/]+", " ", tag).strip() for tag in tags]
    vectors = embed([*words, *titles[::step]])
    centred = vectors[: len(tags)] - vectors.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-6)
    unit: Floats = (centred / lengths).astype(np.float32)
    return unit


def _mutual(own: Floats, theirs: Floats) -> list[tuple[int, int]]:
    likeness = own @ theirs.T
    there, here = likeness.argmax(axis=1), likeness.argmax(axis=0)
    pairs: Mapping[int, int] = dict(enumerate(there.tolist()))
    return [
        (mine, other)
        for mine, other in pairs.items()
        if here[other] == mine and likeness[mine, other] >= MIN_LIKENESS
    ]
