"""What binary planes and int8 rescoring lose against float32: Recall@10, both in one run.

python benchmarks/vectors.py

Questions are XQuAD's, and titles and first sentences of the help vaults' pages; float32 is the
exact cosine of the same centred vectors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tiny
from quality import DATA, LANGUAGES, asked_in, help_collection

from lorepack.index.vectors import centre
from lorepack.models.registry import DEFAULT_MODEL, find_model
from lorepack_builder.build import build_pack
from lorepack_builder.cache.embedded import VectorCache
from lorepack_builder.collection import draw_documents, read_collection, write_collection
from lorepack_builder.collection.model import Collection
from lorepack_builder.recipe import read_recipe
from lorepack_server.evaluate.questions import read_questions
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.dense import centre_question, search_meaning
from lorepack_server.retrieve.encoders import query_encoder

_CHUNKS = """
SELECT chunks.hash, pages.path, pages.lang FROM chunks JOIN pages ON pages.id = chunks.page_id
ORDER BY chunks.id
"""


def compare(title: str, collection: Collection, lang: str, asked: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        documents = draw_documents(collection.documents, [lang], mixed=False)
        documents = tiny.of(documents, documents[:20])
        kept = {document.id for document in documents}
        questions = [q for q in asked_in(collection, asked) if kept & set(q.grades)]
        written = write_collection(documents, tiny.of(questions, questions[:20]), folder)
        summary, _ = build_pack(read_recipe(written.recipe), folder / "out")
        mount = mount_pack(Path(summary.pack))
        rows = mount.connection().execute(_CHUNKS).fetchall()
        with VectorCache(find_model(DEFAULT_MODEL)) as cache:
            known = cache.get({row[0] for row in rows})
        raw = np.stack([known[row[0]] for row in rows])
        exact = centre(raw, [row[2] for row in rows], mount.means)
        encoder = query_encoder(mount)
        assert not isinstance(encoder, str)
        paths = [row[1] for row in rows]
        found = {"float32": 0, "packed": 0}
        questions = read_questions(folder)
        for question in questions:
            vector = encoder.encode_query(question.text)
            order = np.argsort(
                -(exact @ centre_question(vector, mount.means, mount.language_basis)), kind="stable"
            )
            packed = search_meaning(mount, mount.connection(), vector, None, 100)
            lists = {"float32": order[:100], "packed": [hit.chunk - 1 for hit in packed]}
            for name, chunks in lists.items():
                pages = list(dict.fromkeys(paths[chunk] for chunk in chunks))[:10]
                found[name] += bool(set(pages) & set(question.grades))
    shares = {name: count / len(questions) for name, count in found.items()}
    print(f"{title}, pages in {lang}: {len(rows)} chunks, {len(questions)} questions, "
          f"float32 {shares['float32']:.4f}, binary + int8 {shares['packed']:.4f}, "
          f"kept {shares['packed'] / shares['float32']:.2%}", flush=True)  # fmt: skip


if __name__ == "__main__":
    squad = read_collection(DATA / "retrieval" / "xquad")
    vault = help_collection()
    for lang in LANGUAGES:
        compare("XQuAD", squad, lang, LANGUAGES)
    for lang in LANGUAGES:
        compare("help vault", vault, lang, [lang])
