"""Packs of any size: the passages of XQuAD, which questions ask for, among made-up text.

Made-up text is fragments of real pages and single words of the passages, so that words are as
common and as rare as in nature. Its vectors are mixtures of real ones, with noise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lorepack.models.registry import DEFAULT_MODEL, find_model
from lorepack.text.tokenize import SEGMENTER_VERSION, segment
from lorepack_builder.collection import draw_documents, read_collection
from lorepack_builder.collection.model import Document
from lorepack_builder.embed import embed_texts
from lorepack_builder.index import write_vectors, write_words
from lorepack_builder.seal import new_pack, write_meta

DATA = Path(__file__).parents[2] / "shared" / "data"
XQUAD = DATA / "retrieval" / "xquad"
LANGUAGES = ("en", "tr", "zh")
_FOLDERS = {
    "en": ("vaults/obsidian-help-en", "codewiki", "repos"),
    "tr": ("vaults/obsidian-help-tr",),
    "zh": ("vaults/obsidian-help-zh", "vaults/zh-garden"),
}
_PER_PAGE = 10
_FRAGMENTS, _WORDS = 9, 14
"""What a made-up chunk consists of: about 80 tokens."""

Texts = list[tuple[str, str, str]]
"""(language, text, segmented text) of every chunk."""


def passages() -> Sequence[Document]:
    """Return XQuAD's passages, each in one of three languages by chance."""
    return draw_documents(read_collection(XQUAD).documents, LANGUAGES, mixed=True)


def write_pack(path: Path, count: int) -> tuple[Texts, npt.NDArray[np.float32]]:
    """Write a pack of ``count`` chunks to ``path``.

    Returns:
        The chunks' texts, in their order, and their unit vectors, float32 (count, dims).
    """
    spec = find_model(DEFAULT_MODEL)
    real = passages()
    texts = _texts(real, count)
    vectors = _vectors(real, [lang for lang, _, _ in texts])
    with new_pack(path) as pack:
        pack.execute("INSERT INTO sources (id, name, kind, origin) VALUES (1, 's', 'folder', '')")
        pages = (
            (number, f"s/{number}.md", f"s/{number}/", texts[(number - 1) * _PER_PAGE][0])
            for number in range(1, (count - 1) // _PER_PAGE + 2)
        )
        pack.executemany(
            "INSERT INTO pages (id, source_id, path, title, url, lang, body_line, hash, markdown)"
            " VALUES (?1, 1, ?2, '', ?3, ?4, 1, '', '')",
            pages,
        )
        pack.executemany(
            "INSERT INTO chunks VALUES (?1, ?2, ?3, ?1, '', '[]', ?4, 1, 1, 80, '')",
            (
                (n + 1, n // _PER_PAGE + 1, n % _PER_PAGE, text)
                for n, (_, text, _) in enumerate(texts)
            ),
        )
        write_words(pack, [("", "", tokens, "") for _, _, tokens in texts])
        write_vectors(pack, vectors, [lang for lang, _, _ in texts])
        write_meta(
            pack,
            {
                "name": "synthetic", "version": "1", "title": "Synthetic", "builder": "benchmark",
                "languages": list(LANGUAGES), "embedder": spec.fingerprint(),
                "segmenter": SEGMENTER_VERSION, "previous_digest": "", "day": "",
                "previous_version": "", "changes": {},
                "counts": {"pages": (count - 1) // _PER_PAGE + 1, "chunks": count, "edges": 0,
                           "nodes": 0, "findings": 0},
            },
        )  # fmt: skip
    return texts, vectors


def _texts(real: Sequence[Document], count: int) -> Texts:
    """The passages come first, then made-up chunks of each language in turn."""
    chance = random.Random(0)
    texts = [(item.lang, item.text, " ".join(segment(item.text))) for item in real]
    makers = {lang: _maker(lang, real, chance) for lang in LANGUAGES}
    while len(texts) < count:
        # A page has one language.
        lang = LANGUAGES[len(texts) // _PER_PAGE % len(LANGUAGES)]
        text, tokens = next(makers[lang])
        texts.append((lang, text, tokens))
    return texts


def _maker(lang: str, real: Sequence[Document], chance: random.Random) -> Iterator[tuple[str, str]]:
    pool = [(part, " ".join(segment(part))) for part in _fragments(lang)]
    chance.shuffle(pool)
    pieces = re.compile(r"[\u4e00-\u9fff]{2}|\w+" if lang == "zh" else r"\w+")
    own = [word for item in real if item.lang == lang for word in pieces.findall(item.text)]
    words = [(word, " ".join(segment(word))) for word in own]
    while True:
        parts = chance.choices(pool, k=_FRAGMENTS) + chance.choices(words, k=_WORDS)
        chance.shuffle(parts)
        yield " ".join(part for part, _ in parts), " ".join(tokens for _, tokens in parts)


def _fragments(lang: str) -> Iterator[str]:
    pattern = r"[\u4e00-\u9fff，]{6,16}" if lang == "zh" else r"\w[\w' ,]{12,50}\w"
    for folder in _FOLDERS[lang]:
        for file in sorted((DATA / folder).rglob("*.md")):
            yield from re.findall(pattern, file.read_text(encoding="utf-8", errors="replace"))


def _vectors(real: Sequence[Document], langs: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the passages' own vectors, then mixtures of two passages in each chunk's language."""
    rng = np.random.default_rng(0)
    known = embed_texts([d.text for d in real], find_model(DEFAULT_MODEL), _quiet).vectors
    labels = np.array(langs)
    made = np.empty((len(langs), known.shape[1]), np.float32)
    made[: len(known)] = known
    spread = known.std(axis=0)
    for lang in LANGUAGES:
        own = np.flatnonzero(labels == lang)
        passages_of_lang, places = own[own < len(known)], own[own >= len(known)]
        for part in np.array_split(places, len(places) // 10_000 + 1):
            one, other = (known[rng.choice(passages_of_lang, len(part))] for _ in range(2))
            mix = (one + other) / 2 + rng.normal(0, 0.7, one.shape) * spread
            made[part] = mix / np.linalg.norm(mix, axis=1, keepdims=True)
    return made


def _quiet(done: int, total: int) -> None:
    pass
