"""Files as they lie about in real vaults."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.vaults import Vault, open_vault, read_vault

TEXT = "---\ntags: [x]\n---\n# One\n\ntext\n\n## Two\n\nmore ^id\n"


def summary(vault: Vault, path: str) -> object:
    return [(c.anchor, c.text, c.first_line, c.last_line) for c in vault.chunks(path)]


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.encode("utf-16"),
    ],
    ids=["LF", "CRLF", "BOM", "BOM+CRLF", "CR", "UTF-16"],
)
def test_line_ends_and_marks_do_not_matter(tmp_path: Path, data: bytes) -> None:
    plain = open_vault(tmp_path / "plain", {"a.md": TEXT})
    other = open_vault(tmp_path / "other", {"a.md": data})
    assert summary(other, "a.md") == summary(plain, "a.md")
    assert other["a.md"].tags == ("x",)
    assert other.findings == []


BAD_BYTES = {
    "NUL": (b"one\ntwo\0", 2, "NUL"),
    "UTF-8": (b"one\ntwo\nthree \xff\xfe", 3, "UTF-8"),
    "Latin-1": ("dört\nşey".encode("iso-8859-9"), 1, "UTF-8"),
}


@pytest.mark.parametrize(("data", "line", "what"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes_are_a_finding_with_a_line(
    tmp_path: Path, data: bytes, line: int, what: str
) -> None:
    vault = open_vault(tmp_path, {"a.md": data, "b.md": "fine"})
    (finding,) = vault.findings
    assert (finding.rule, finding.path, finding.line) == ("bad-text", "v/a.md", line)
    assert what in finding.message
    assert len(vault.linked) == 2


def test_an_empty_file_is_a_page(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, {"a.md": b"", "b.md": "[[a]]"})
    assert vault.targets("b.md") == ["a.md"] and vault.chunks("a.md") == ()


@pytest.mark.parametrize("unit", ["word ", "x", "字", "[[a]] ", "$x$ "])
def test_a_line_of_five_megabytes(tmp_path: Path, unit: str) -> None:
    size = 5_000_000 if unit in ("word ", "x") else 300_000
    vault = open_vault(tmp_path, {"a.md": unit * (size // len(unit.encode()))})
    chunks = vault.chunks("a.md")
    assert all(chunk.tokens <= 256 for chunk in chunks)
    assert sum(len(chunk.text) for chunk in chunks) > size // 4


def test_links_in_the_file_system(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "real.md").write_text("real")
    for name, target in {
        "loop": ".", "out": outside, "out.md": outside / "secret.md", "gone.md": "nothing.md",
        "inside.md": "real.md", "self.md": "self.md",
    }.items():  # fmt: skip
        (vault / name).symlink_to(target)
    read = read_vault(vault)
    assert [item.page.path for item in read.linked] == ["v/inside.md", "v/real.md"]
    said = {f.path: f.message for f in read.findings}
    assert said == {
        "v/loop": "is a link to a folder", "v/out": "is a link out of its source",
        "v/out.md": "is a link out of its source", "v/gone.md": "is a link to nothing",
        "v/self.md": "is a link to nothing",
    }  # fmt: skip


def test_pipes_and_bad_names_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb") as file:
        file.write(b"x")
    vault = read_vault(tmp_path)
    assert vault.linked == []
    assert sorted(f.message for f in vault.findings) == [
        "has a name that is not valid UTF-8", "is neither a file nor a folder",
    ]  # fmt: skip


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    import unicodedata

    for form in ("NFC", "NFD"):
        (tmp_path / unicodedata.normalize(form, "é.md")).write_text(form)
    vault = read_vault(tmp_path)
    assert len(vault.linked) == 1
    assert "same name" in vault.findings[0].message


IGNORED = {
    ".obsidian/x.md": "hidden", ".trash/x.md": "hidden", "private/x.md": "hidden",
    "Templates/x.md": "hidden", "keep.md": "[[x]] ![[x]] [[Private note]]", "drafts/y.md": "hidden",
    "d.md": "---\ndraft: true\n---\nhidden", "p.md": "---\npublish: false\n---\nhidden",
    ".obsidian/app.json": '{"userIgnoreFilters": ["Templates/", "/^dr.fts/"]}',
}  # fmt: skip


def test_ignored_and_draft_notes_leak_nowhere(build) -> None:  # type: ignore[no-untyped-def]
    built = build(IGNORED, extra='exclude = ["private/"]')
    assert built.summary.pages == 1
    connection = built.mount().connection()
    assert b"hidden" not in built.path.read_bytes()
    assert connection.execute("SELECT count(*) FROM terms WHERE term = 'hidden'").fetchone()[0] == 0
    assert {f.rule for f in built.findings} == {"broken-link"}


def test_bad_settings_of_the_vault_are_no_obstacle(tmp_path: Path) -> None:
    for content in ("{", "[]", '{"userIgnoreFilters": 5}', '{"userIgnoreFilters": ["/(/", 3, ""]}'):
        folder = tmp_path / str(len(content))
        files = {".obsidian/app.json": content, "a.md": "x"}
        assert len(open_vault(folder, files).linked) == 1


def test_names_that_differ_only_in_case_have_their_own_address(build) -> None:  # type: ignore[no-untyped-def]
    built = build({"A.md": "x", "a.md": "y", "a b.md": "z", "A-b.md": "w"})
    urls = [r[0] for r in built.mount().connection().execute("SELECT url FROM pages")]
    assert len({url.lower() for url in urls}) == 4
