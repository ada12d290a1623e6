"""Repositories as sources: every way to name one, what is taken, and what never leaves it."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_server.retrieve.search import find_chunks
from tests.conftest import Built, write_files
from tests.gits import commit, git, http_repos, make_repo

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
FILES = {
    "README.md": "# Box\n\nA box. See `Box.open_lid`, `src/box.py` and [the guide](docs/guide.rst).\n",
    "docs/guide.rst": "Guide\n=====\n\nCall :meth:`box.Box.open_lid` first, then #3.\n",
    "src/box.py": '"""Boxes."""\n\n\nclass Box:\n    """A box."""\n\n    def open_lid(self) -> None:\n'
    '        """Open the lid of the box wide."""\n        print("the lid is open now, look into it")\n',
    "big.bin": LFS,
}  # fmt: skip
BuildRepo = Callable[..., Built]


@pytest.fixture
def build_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuildRepo:
    """Build a pack of one repo source; keywords are keys of the recipe, in TOML."""
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))

    def build(path: object, *, offline: bool = False, site: bool = False, **keys: str) -> Built:
        lines = [f"{key} = {value}" for key, value in keys.items()]
        recipe = tmp_path / "r.toml"
        recipe.write_text(
            f'[pack]\nname="p"\nversion="1"\n[[source]]\nname="s"\nkind="repo"\npath="{path}"\n'
            + "\n".join(lines) + '\n[embed]\nmodel="none"\n'
        )  # fmt: skip
        return Built(*build_pack(read_recipe(recipe), tmp_path / "out", site=site, offline=offline))

    return build


def paths(built: Built) -> list[str]:
    rows = built.mount().connection().execute("SELECT path FROM pages ORDER BY path")
    return [row["path"].removeprefix("s/") for row in rows]


def revision(built: Built) -> str:
    return str(built.mount().connection().execute("SELECT revision FROM sources").fetchone()[0])


def test_documents_and_code_become_linked_pages(tmp_path: Path, build_repo: BuildRepo) -> None:
    web = "https://github.com/o/box"
    repo = make_repo(tmp_path / "repo", FILES, web=f"{web}.git")
    built = build_repo(repo)
    pack = built.mount().connection()
    assert paths(built) == ["README.md", "docs/guide.rst", "src/box.py"]
    assert built.rules() == ["lfs-pointer"]
    symbols = pack.execute("SELECT name, kind, file, first_line, last_line, doc FROM symbols")
    assert [tuple(row) for row in symbols] == [
        ("Box", "class", "s/src/box.py", 4, 9, "A box."),
        ("Box.open_lid", "method", "s/src/box.py", 7, 9, "Open the lid of the box wide."),
    ]
    edges = pack.execute(
        "SELECT s.name AS src, e.kind, d.name AS dst, e.line FROM edges e "
        "JOIN nodes s ON s.id = e.src JOIN nodes d ON d.id = e.dst ORDER BY e.id"
    )
    symbol, file = "s/src/box.py::Box.open_lid", "s/src/box.py"
    assert [tuple(row) for row in edges] == [
        (file, "defines", "s/src/box.py::Box", 4),
        ("s/src/box.py::Box", "defines", symbol, 7),
        ("s/README.md", "link", "s/docs/guide.rst", 3),
        ("s/README.md", "code_ref", symbol, 3),
        ("s/README.md", "code_ref", file, 3),
        ("s/docs/guide.rst", "code_ref", symbol, 4),
    ]
    best = find_chunks(built.mount(), "open_lid").results[0].as_dict()
    sha = git(repo, "rev-parse", "HEAD")
    assert (best["slug"], best["repo"], best["commitSha"]) == (file, "o/box", sha)
    first, last = best["lines"]  # type: ignore[misc]
    assert best["sourceUrl"] == f"{web}/blob/{sha}/src/box.py#L{first}-L{last}"
    lines = FILES["src/box.py"].split("\n")
    assert best["text"] == "\n".join(lines[first - 1 : last])


@pytest.mark.parametrize("ref", ["main", "old", "v1", "{sha}", "{short}"])
def test_every_kind_of_ref_over_a_url(tmp_path: Path, build_repo: BuildRepo, ref: str) -> None:
    repo = make_repo(tmp_path / "repo", {"a.md": "# One\n\nfirst\n"})
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "tag", "-a", "v1", "-m", "one")
    git(repo, "branch", "old")
    write_files(repo, {"b.md": "# Two\n\nsecond\n"})
    second = commit(repo, "second")
    wanted = second if ref == "main" else first
    built = build_repo(f"file://{repo}", ref=f'"{ref.format(sha=first, short=first[:9])}"')
    assert (revision(built), len(paths(built))) == (wanted, 2 if ref == "main" else 1)
    again = build_repo(
        f"file://{repo}", ref=f'"{ref.format(sha=first, short=first[:9])}"', offline=True
    )
    assert again.summary.digest == built.summary.digest


def test_a_url_without_ref_is_the_main_branch_as_it_is_now(
    tmp_path: Path, build_repo: BuildRepo
) -> None:
    repo = make_repo(tmp_path / "repo", {"a.md": "first\n"})
    build_repo(f"file://{repo}")
    write_files(repo, {"b.md": "second\n"})
    second = commit(repo, "second")
    assert revision(build_repo(f"file://{repo}")) == second


def test_bare_shallow_and_partial_repositories(tmp_path: Path, build_repo: BuildRepo) -> None:
    repo = make_repo(tmp_path / "repo", FILES)
    git(repo, "config", "uploadpack.allowFilter", "true")
    commit(repo, "second")
    for name, options in (("bare", ["--bare"]), ("shallow", ["--depth=1"]),
                          ("partial", ["--filter=blob:none"])):  # fmt: skip
        copy = tmp_path / name
        git(tmp_path, "clone", "--quiet", *options, f"file://{repo}", str(copy))
        assert len(paths(build_repo(copy))) == 3, name
        assert revision(build_repo(copy)) == git(repo, "rev-parse", "HEAD"), name


def test_a_subdir_fetches_only_its_files(tmp_path: Path, build_repo: BuildRepo) -> None:
    repo = make_repo(tmp_path / "repo", {**FILES, "huge.txt": "x" * 300_000})
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    built = build_repo(f"file://{repo}", subdir='"docs"')
    assert paths(built) == ["guide.rst"]
    fetched = next((tmp_path / "cache" / "repos").iterdir())
    objects = git(fetched, "cat-file", "--batch-check", "--batch-all-objects")
    assert git(repo, "rev-parse", "HEAD:docs/guide.rst") in objects
    assert git(repo, "rev-parse", "HEAD:huge.txt") not in objects


def test_patterns_and_gitignore(tmp_path: Path, build_repo: BuildRepo) -> None:
    files = {
        ".gitignore": "*.log.md\n/made/\n!keep.log.md\n", "a.md": "a", "x.log.md": "x",
        "keep.log.md": "k", "made/b.md": "b", "sub/.gitignore": "c.md\n", "sub/c.md": "c",
        "sub/d.md": "d", "sub/made/e.md": "e",
    }  # fmt: skip
    folder = write_files(tmp_path / "plain", files)
    assert paths(build_repo(folder)) == ["a.md", "keep.log.md", "sub/d.md", "sub/made/e.md"]
    repo = make_repo(tmp_path / "repo", {"a.md": "a", "b/c.md": "c", "b/d.py": "x = 1\n"})
    for path in (repo, f"file://{repo}"):
        assert paths(build_repo(path, exclude='["b/*.py"]')) == ["a.md", "b/c.md"]
        assert paths(build_repo(path, include='["/b/"]')) == ["b/c.md", "b/d.py"]
        assert paths(build_repo(path, code="false")) == ["a.md", "b/c.md"]


def test_uncommitted_changes_are_taken_and_told(tmp_path: Path, build_repo: BuildRepo) -> None:
    repo = make_repo(tmp_path / "repo", {"a.md": "committed\n"})
    (repo / "a.md").write_text("changed\n")
    built = build_repo(repo)
    assert (built.rules(), revision(built)) == (["uncommitted"], "")
    built = build_repo(repo, ref='"HEAD"')
    assert (built.rules(), revision(built)) == ([], git(repo, "rev-parse", "HEAD"))


def test_submodules_come_only_when_asked(tmp_path: Path, build_repo: BuildRepo) -> None:
    make_repo(tmp_path / "inner", {"deep.md": "# Deep\n\ninner\n"})
    outer = make_repo(tmp_path / "outer", {"a.md": "outer\n"})
    git(outer, "submodule", "--quiet", "add", "../inner", "mods/inner")
    git(
        outer, "config", "-f", ".gitmodules", "submodule.mods/inner.url", f"file://{tmp_path}/inner"
    )
    commit(outer, "with a submodule")
    left = build_repo(f"file://{outer}")
    assert (paths(left), left.rules()) == (["a.md"], ["submodule"])
    taken = build_repo(f"file://{outer}", submodules="true")
    assert (paths(taken), taken.rules()) == (["a.md", "mods/inner/deep.md"], [])


def test_a_password_reaches_neither_pack_nor_cache_nor_message(
    tmp_path: Path, build_repo: BuildRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    make_repo(tmp_path / "served" / "repo", FILES)
    secret = "s3cr3t-w0rd"
    with http_repos(tmp_path / "served", secret) as address:
        url = address.replace("://", f"://user:{secret}@") + "/repo/.git"
        for keys in ({}, {"subdir": '"docs"'}):
            built = build_repo(url, **keys)
            assert "docs/guide.rst" in paths(built) or paths(built) == ["guide.rst"]
        for bad in (url.replace(secret, "wr0ng-w0rd"), f"{url}-none"):
            with pytest.raises(LorepackError) as refused:
                build_repo(bad)
            assert "w0rd" not in f"{refused.value.message} {refused.value.remedy}"
    (tmp_path / "r.toml").unlink()
    for file in [p for p in tmp_path.rglob("*") if p.is_file()]:
        assert secret.encode() not in file.read_bytes(), file
    assert "w0rd" not in "".join(capfd.readouterr())


def test_links_are_copied_and_never_followed_out(tmp_path: Path, build_repo: BuildRepo) -> None:
    (tmp_path / "secret.md").write_text("secret")
    repo = make_repo(tmp_path / "repo", {"a.md": "# A\n\ntext\n"})
    (repo / "twin.md").symlink_to("a.md")
    (repo / "out.md").symlink_to("../secret.md")
    (repo / "passwd.txt").symlink_to("/etc/passwd")
    commit(repo, "links")
    for path in (repo, f"file://{repo}"):
        built = build_repo(path)
        assert paths(built) == ["a.md", "twin.md"]
        assert [f.path for f in built.findings if f.rule == "skipped-file"] == [
            "s/out.md", "s/passwd.txt"
        ]  # fmt: skip


def test_nothing_that_a_repository_configures_is_run(tmp_path: Path, build_repo: BuildRepo) -> None:
    repo = make_repo(
        tmp_path / "repo", {".gitattributes": "*.md filter=evil diff=evil\n", "a.md": "a\n"}
    )
    ran = tmp_path / "ran"
    evil = f"touch {ran}"
    for key in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv",
                "core.sshCommand", "core.pager", "core.editor", "credential.helper"):  # fmt: skip
        git(repo, "config", key, f"!{evil}" if key.startswith("cred") else evil)
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
        file = repo / ".git" / "hooks" / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{evil}\n")
        file.chmod(0o755)
    git(repo, "config", "core.fsmonitor", evil)
    ran.unlink(missing_ok=True)
    for path, keys in ((repo, {}), (repo, {"ref": '"main"'}), (f"file://{repo}", {})):
        build_repo(path, **keys)
        assert not ran.exists()


BAD = {
    "no such ref": ({"ref": '"gone"'}, "gone"),
    "option as ref": ({"ref": '"--upload-pack=touch x"'}, "is no name in git"),
    "no such subdir": ({"subdir": '"gone"'}, "has no folder 'gone'"),
    "leaving subdir": ({"subdir": '"../.."'}, "leaves its source"),
}  # fmt: skip


@pytest.mark.parametrize(("keys", "message"), BAD.values(), ids=BAD)
def test_a_bad_repo_is_refused_in_one_sentence(
    tmp_path: Path, build_repo: BuildRepo, keys: dict[str, str], message: str
) -> None:
    repo = make_repo(tmp_path / "repo", {"a.md": "a"})
    with pytest.raises(LorepackError, match=message):
        build_repo(f"file://{repo}", **keys)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "url", ["ext::sh -c touch% ran", "file:///nowhere", "https://127.0.0.1:1/x"]
)
def test_a_bad_url_is_refused(tmp_path: Path, build_repo: BuildRepo, url: str) -> None:
    with pytest.raises(LorepackError):
        build_repo(url)
    assert not (tmp_path / "ran").exists() and not Path("ran").exists()


def test_offline_refuses_what_was_never_fetched(tmp_path: Path, build_repo: BuildRepo) -> None:
    repo = make_repo(tmp_path / "repo", {"a.md": "a"})
    with pytest.raises(LorepackError, match="is not in the cache"):
        build_repo(f"file://{repo}", offline=True)


def test_the_file_of_a_pack_holds_no_local_path(tmp_path: Path, build_repo: BuildRepo) -> None:
    repo = make_repo(tmp_path / "repo", FILES)
    built = build_repo(f"file://{repo}", ref='"main"')
    with sqlite3.connect(built.summary.pack) as pack:
        kept = [str(row) for row in pack.execute("SELECT * FROM pages")]
    assert not any(str(tmp_path) in row for row in kept)


def test_a_tree_that_no_disk_can_hold_is_reported(tmp_path: Path, build_repo: BuildRepo) -> None:
    """Trees made by hand: a path that leaves, a name too long, a file that is a folder too."""
    repo = make_repo(tmp_path / "repo", {"a.md": "a"})
    blob = git(repo, "rev-parse", "HEAD:a.md")
    inner = mktree(repo, f"100644 blob {blob}\tb.md")
    names = ("..", "x" * 300 + ".md", "ok.md", "z.md")
    entries = [f"100644 blob {blob}\t{name}" for name in names] + [f"040000 tree {inner}\tz.md"]
    tree = mktree(repo, *entries)
    sha = git(repo, "commit-tree", tree, "-m", "odd")
    git(repo, "update-ref", "refs/heads/odd", sha)
    built = build_repo(repo, ref='"odd"')
    assert paths(built) == ["ok.md", "z.md"]
    assert sorted((f.rule, f.path[:6], f.message[:17]) for f in built.findings) == [
        ("skipped-file", "s/xxxx", "cannot be written"),
        ("skipped-file", "s/z.md", "cannot be written"),
    ]
    assert not (tmp_path / "b.md").exists()


def mktree(repo: Path, *entries: str) -> str:
    data = b"".join(_entry(entry) for entry in entries)
    done = subprocess.run(
        ["git", "-C", str(repo), "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        input=data, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def _entry(entry: str) -> bytes:
    about, name = entry.split("\t")
    mode, _, sha = about.split()
    return f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(sha)


def test_the_overview_of_code_leads_to_the_lines_at_the_commit(
    tmp_path: Path, build_repo: BuildRepo
) -> None:
    web = "https://github.com/o/box"
    repo = make_repo(tmp_path / "repo", FILES, web=web)
    built = build_repo(repo, site=True)
    rows = built.mount().connection().execute("SELECT name, sz, data FROM sqlar")
    site = {n: zlib.decompress(d) if len(d) < sz else d for n, sz, d in rows if n.endswith("html")}
    blob = f"{web}/blob/{git(repo, 'rev-parse', 'HEAD')}/src/box.py"
    overview = site["code/s/index.html"].decode()
    assert (
        'href="../../s/src/box.py/#box-open_lid"' in overview and f'href="{blob}#L7-L9"' in overview
    )
    page = site["s/src/box.py/index.html"].decode()
    assert '<h3 id="box-open_lid">open_lid' in page and f'href="{blob}#L7-L9"' in page
    guide = site["s/docs/guide/index.html"].decode()
    assert re.search(r'href="../../src/box.py/#box-open_lid"[^>]*><code>box.Box.open_lid', guide)
