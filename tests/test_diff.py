"""What is in a pack, and what differs between two."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.pack.diff import diff_packs
from lorepack.pack.inspect import inspect_pack
from lorepack.pack.open import open_pack
from lorepack.pack.site import site_files
from tests.conftest import Built

Build = Callable[..., Built]
OLD = {
    "Kept.md": "as it is", "Gone.md": "bye, and nothing else is so", "Old name.md": "text that moves",
    "Edit.md": "# Edit\n\none\n\n## Part\n\ntwo\n\n## Same\n\nthree\n\n## Lost\n\nfour [[Kept]]\n",
}  # fmt: skip
NEW = {
    "Kept.md": "as it is", "New *name*.md": "text that moves", "Fresh.md": "hello [[Gone]]",
    "Edit.md": "# Edit\n\none\n\n## Part\n\n2\n\n## Same\n\nthree\n\n## Added\n\nfive\n",
}  # fmt: skip


@pytest.fixture
def two(build: Build, tmp_path: Path) -> tuple[Path, Path]:
    old = build(OLD)
    for name in OLD:
        (tmp_path / "vault" / name).unlink()
    return old.path, build(NEW, version="2.0.0").path


def test_pages_and_sections_that_came_went_moved_and_changed(two: tuple[Path, Path]) -> None:
    difference = diff_packs(*two)
    found = {(c.kind, c.how, c.name.removeprefix("v/")) for c in difference.changes}
    assert {change for change in found if change[0] in ("page", "section")} == {
        ("page", "added", "Fresh.md"), ("page", "removed", "Gone.md"),
        ("page", "moved", "New *name*.md"), ("page", "changed", "Edit.md"),
        ("section", "changed", "Edit.md#part"), ("section", "added", "Edit.md#added"),
        ("section", "removed", "Edit.md#lost"),
    }  # fmt: skip
    assert difference.counts()["page"] == {"added": 1, "changed": 1, "moved": 1, "removed": 1}


def test_links_and_findings_are_compared_too(two: tuple[Path, Path]) -> None:
    found = [(c.kind, c.how, c.name) for c in diff_packs(*two).changes]
    assert ("edge", "added", "v/Fresh.md → Gone (unresolved)") in found
    assert ("edge", "removed", "v/Edit.md → v/Kept.md (wikilink)") in found
    assert ("finding", "added", "v/Fresh.md: [[Gone]] leads nowhere [broken-link]") in found


def test_symbols_are_compared(tmp_path: Path, build: Build) -> None:
    from lorepack_builder.build import build_pack
    from lorepack_builder.recipe import read_recipe
    from tests.gits import make_repo

    def pack(version: str, code: str) -> Path:
        folder = tmp_path / version
        make_repo(folder / "src", {"m.py": code})
        (folder / "r.toml").write_text(
            f'[pack]\nname="p"\nversion="{version}"\n[[source]]\nname="s"\nkind="repo"\n'
            'path="src"\n[embed]\nmodel="none"\n'
        )
        return Path(build_pack(read_recipe(folder / "r.toml"), folder, site=False)[0].pack)

    old = pack("1", "def a(x): ...\n\ndef b(): ...\n")
    new = pack("2", "def a(x, y): ...\n\ndef c(): ...\n")
    assert {(c.how, c.name) for c in diff_packs(old, new).changes if c.kind == "symbol"} == {
        ("changed", "s/m.py::a"), ("removed", "s/m.py::b"), ("added", "s/m.py::c"),
    }  # fmt: skip


def run(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(cli, [str(a) for a in arguments])
    return done.exit_code, done.output


def test_the_forms_of_a_difference(two: tuple[Path, Path]) -> None:
    code, text = run("diff", *two, "--exit-code")
    assert code == 1 and text.startswith("test 1.0.0 → test 2.0.0\npages: 1 added, 1 changed")
    assert "+ page v/Fresh.md (Fresh)" in text and "- page v/Gone.md (Gone)" in text
    assert "> page v/New *name*.md (New *name* (before at v/Old name.md))" in text
    data = json.loads(run("diff", *two, "--format", "json")[1])
    assert data["old"]["version"] == "1.0.0" and len(data["changes"]) == len(
        diff_packs(*two).changes
    )
    _, changelog = run("diff", *two, "--format", "markdown")
    assert re.findall(r"^###? .+$", changelog, re.M) == [
        "## 2.0.0", "### Added", "### Changed", "### Moved", "### Removed",
    ]  # fmt: skip
    assert r"- New \*name\* (before at" in changelog and "  - changed: Part" in changelog


def test_the_same_pack_differs_in_nothing(two: tuple[Path, Path]) -> None:
    old, _ = two
    assert run("diff", old, old, "--exit-code")[0] == 0
    assert "Nothing differs" in run("diff", old, old, "--format", "markdown")[1]


def test_inspect_counts_rows_and_bytes(build: Build) -> None:
    built = build({**OLD, "t.md": "---\ntags: [a]\n---\nx"}, extra='licence = "MIT"\n')
    found = inspect_pack(built.path)
    tables: Mapping[str, int] = {table.name: table.rows for table in found.tables}
    assert (tables["pages"], tables["tags"], tables["sources"]) == (5, 1, 1)
    assert "chunks_fts" not in tables and tables["chunks_fts_docsize"] == built.summary.chunks
    assert found.bytes == built.path.stat().st_size
    sized = [table.bytes for table in found.tables]
    assert sized == sorted(sized, reverse=True)
    assert not any(sized) or sum(sized) <= found.bytes
    assert found.sources[0]["pages"] == 5 and found.sources[0]["licence"] == "MIT"
    assert found.meta["counts"]["pages"] == 5
    code, text = run("inspect", built.path)
    assert code == 0 and "content_digest" in text and "v: 5 pages" in text
    assert json.loads(run("inspect", built.path, "--json")[1])["meta"]["name"] == "test"


def test_a_pack_tells_what_differs_from_the_one_before(two: tuple[Path, Path]) -> None:
    from lorepack_server.packs.mount import mount_pack
    from lorepack_server.tools.answer import Context
    from lorepack_server.tools.pack_diff import SPEC

    context = Context(mount_pack(two[1]))
    data = SPEC.call(context, {"limit": 500, "maxTokens": 100_000}).data
    told = {(c["kind"], c["how"], c["name"]) for c in data["changes"]}
    assert told == {(c.kind, c.how, c.name) for c in diff_packs(*two).changes}
    assert data["previousVersion"] == "1.0.0" and data["counts"]["page"]["moved"] == 1
    one = SPEC.call(context, {"kind": "finding"})
    assert {c["kind"] for c in one.data["changes"]} == {"finding"}
    assert "test 1.0.0 → 2.0.0: pages: 1 added" in one.text
    first = SPEC.call(Context(mount_pack(two[0])), {})
    assert first.data["status"] == "no_match" and "no earlier version" in first.text


def test_a_changed_section_shows_its_words(two: tuple[Path, Path]) -> None:
    from lorepack_server.packs.mount import mount_pack
    from lorepack_server.tools.answer import Context
    from lorepack_server.tools.pack_diff import SPEC

    answer = SPEC.call(Context(mount_pack(two[1])), {"kind": "section", "page": "Edit"})
    assert "changed section v/Edit.md#part (Part)" in answer.text
    assert "-two\n+2\n" in answer.text and "~~~~document" in answer.text
    assert answer.text.count("~~~~document") == 1


def test_a_page_that_is_stale_for_longer_is_no_change(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.md": "---\nupdated: 2020-01-01\n---\n# A\n\ntext\n"}
    built = []
    for version, epoch in (("1.0.0", 1_767_225_600), ("2.0.0", 1_780_272_000)):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(epoch))
        built.append(build(files, version=version))
    messages = {f.message for one in built for f in one.findings if f.rule == "stale-page"}
    assert len(messages) == 2
    assert not diff_packs(built[0].path, built[1].path).changes


def test_the_sites_page_of_changes_has_links_and_findings(two: tuple[Path, Path]) -> None:
    with closing(open_pack(two[1])) as pack:
        html = dict(site_files(pack))["changes/index.html"].decode()
    assert "Links added" in html and "Findings added" in html and "leads nowhere" in html


def test_what_is_no_pack_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no pack")
    for look in (inspect_pack, lambda path: diff_packs(path, path)):
        with pytest.raises(LorepackError, match="is no Lorepack pack"):
            look(tmp_path / "x")
