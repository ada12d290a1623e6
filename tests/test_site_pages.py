"""What the site's pages show, and the files beside them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from lorepack.pack.open import open_pack
from lorepack.pack.site import site_files, unpack_site
from lorepack_builder.build import build_pack, build_site
from lorepack_builder.recipe import read_recipe
from tests.conftest import LOREPACK, Built, errors_of, serve, write_files, write_recipe

Build = Callable[..., Built]

PDF = b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n"
FILES: dict[str, str | bytes] = {
    "Home.md": "---\ntags: [a/b, A]\nlifecycle: verified\ncreated: 2026-01-02\nupdated: 2026-02-03\n---\n"
    "# Home\n\nTo [[Other]] and [[Nowhere]]. ![[paper.pdf]] ![[sound.mp3]] ![[film.mp4|200]]\n\n"
    "## 同一个标题\n\nx\n\n## Same\n\nx\n\n## Same\n\nx\n\n## 😀\n\nx[^1]\n\n[^1]: A note.\n",
    "Other.md": "---\ntags: [c]\n---\nBack to [[Home#Same]].\n\n```mermaid\nflowchart LR\n A[Alpha] --> B[Beta]\n```\n",
    "sub/Third.md": "Alone.\n",
    "paper.pdf": PDF,
    "sound.mp3": b"ID3",
    "film.mp4": b"\0\0\0 ftyp",
}  # fmt: skip


def site_of(pack: Path) -> dict[str, str]:
    """All text files of a pack's site."""
    with closing(open_pack(pack)) as connection:
        return {name: data.decode("utf-8", "replace") for name, data in site_files(connection)}


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    problems = errors_of(page)
    yield page
    page.close()
    assert problems == []


@pytest.fixture
def unpacked(build: Build, tmp_path: Path) -> Callable[..., Path]:
    def unpack(files: Mapping[str, str | bytes], **options: str) -> Path:
        built = build(files, **options)
        unpack_site(built.path, tmp_path / "site")
        return tmp_path / "site"

    return unpack


def test_a_page_and_what_stands_around_it(opened: Any, unpacked: Callable[..., Path]) -> None:
    site = unpacked(FILES)
    opened.goto((site / "v/home/index.html").as_uri())
    facts = opened.locator(".lore-facts")
    assert facts.locator(".lore-lifecycle").inner_text() == "verified"
    for text in ("Created 2026-01-02", "Updated 2026-02-03", "#a/b", "#A", "Markdown", "Graph"):
        assert facts.get_by_text(text, exact=True).count() == 1
    assert opened.locator(".lore-crumbs a").all_inner_texts() == ["Test pack", "v"]
    assert opened.locator(".lore-outgoing a").all_inner_texts() == ["Other"]
    assert opened.locator(".lore-backlinks a").all_inner_texts() == ["Other"]
    assert opened.locator("nav.md-nav--secondary a[href='#same']").count() == 1
    assert opened.locator("object.lore-pdf[type='application/pdf'] a").count() == 1
    assert opened.locator("audio[controls]").count() == 1
    assert opened.locator("video[controls][width='200']").count() == 1
    assert opened.locator(".footnotes li").inner_text().startswith("A note.")
    facts.get_by_text("#a/b").click()
    assert opened.locator("h1").inner_text() == "#a/b"
    opened.locator(".lore-crumbs a", has_text="Tags").click()
    opened.locator(".lore-tags a").first.wait_for()
    assert opened.locator(".lore-tags a").all_inner_texts() == ["#A", "#a/b", "#c"]


def test_math_diagrams_code_and_a_canvas_are_drawn(opened: Any, demo_server: str) -> None:
    opened.goto(f"{demo_server}/site/demo/guide/guides/markdown-tour/")
    opened.locator(".katex-display .katex-html").wait_for()
    assert opened.locator(".arithmatex .katex").count() == 2
    opened.locator(".lore-diagram[role=img] svg").wait_for()
    assert "one file" in opened.locator(".lore-diagram").inner_text()
    assert opened.locator(".highlight button.md-clipboard, .md-code__button").count() == 1
    assert opened.locator("input[type=checkbox][data-task]").count() == 3
    opened.get_by_role("link", name="A canvas").click()
    canvas = opened.locator("svg.lore-canvas[role=group]")
    canvas.locator(".lore-arrow path").nth(2).wait_for()
    assert canvas.locator("rect").count() == 5
    canvas.locator("a.lore-card", has_text="Packs.md").click()
    assert opened.locator("h1").inner_text() == "Packs"


def git(folder: Path, *arguments: str) -> str:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://user:secret@github.com/o/r.git", "https://github.com/o/r/blob/{}/docs/A%20b.md"),
        ("git@gitlab.com:o/g/r.git", "https://gitlab.com/o/g/r/-/blob/{}/docs/A%20b.md"),
        ("ssh://git@codeberg.org:22/o/r", "https://codeberg.org/o/r/src/commit/{}/docs/A%20b.md"),
        ("../elsewhere", ""),
    ],
)
def test_source_at_its_commit(tmp_path: Path, remote: str, address: str) -> None:
    repo = write_files(tmp_path / "repo", {"docs/A b.md": "Text.\n", "other.txt": "x\n"})
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "first")
    git(repo, "remote", "add", "origin", remote)
    commit = git(repo, "rev-parse", "HEAD")
    (repo / "other.txt").write_text("changed, but not in the source\n")
    recipe = write_recipe(tmp_path, repo / "docs")
    files = site_of(Path(build_pack(read_recipe(recipe), tmp_path / "out")[0].pack))
    page = files["v/a-b/index.html"]
    assert f"Source at {commit[:10]}" in page and commit[:10] in files["index.html"]
    assert (
        (address.format(commit) in page)
        if address
        else ("<a" not in page.split("Source at")[0][-9:])
    )
    assert not any("secret" in text for text in files.values())
    (repo / "docs/A b.md").write_text("Not committed.\n")
    files = site_of(Path(build_pack(read_recipe(recipe), tmp_path / "out")[0].pack))
    assert "Source at" not in files["v/a-b/index.html"] and commit[:10] not in files["index.html"]


def test_a_checkout_runs_nothing_of_its_own(tmp_path: Path) -> None:
    """A repository may configure commands for git to run; a source's must not."""
    repo = write_files(tmp_path / "repo", {"A.md": "Text.\n", ".gitattributes": "*.md filter=x\n"})
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "first")
    sign = tmp_path / "ran"
    for key in (
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.smudge",
        "core.pager",
        "alias.ls-tree",
    ):
        git(repo, "config", key, f"!touch {sign}" if "alias" in key else f"touch {sign}")
    build_pack(read_recipe(write_recipe(tmp_path, repo)), tmp_path / "out")
    assert not sign.exists()


def test_changes_since_the_previous_version(opened: Any, tmp_path: Path) -> None:
    vault = write_files(tmp_path / "vault", FILES)
    recipe = write_recipe(tmp_path, vault)
    build_pack(read_recipe(recipe), tmp_path / "out")
    recipe.write_text(recipe.read_text().replace("1.0.0", "1.1.0"))
    (vault / "New.md").write_text("---\ntags: [fresh]\n---\nNew.\n")
    (vault / "Other.md").unlink()
    (vault / "sub/Third.md").rename(vault / "sub/Fourth.md")
    home = vault / "Home.md"
    home.write_text(home.read_text().replace("## 😀\n\nx", "## 😀\n\ny"))
    summary, _ = build_pack(read_recipe(recipe), tmp_path / "out")
    with closing(open_pack(Path(summary.pack))) as connection:
        previous = connection.execute("SELECT value FROM meta WHERE key = 'previous_digest'")
        assert len(previous.fetchone()[0]) == 64
    unpack_site(Path(summary.pack), tmp_path / "site")
    opened.goto((tmp_path / "site/changes/index.html").as_uri())
    shown = opened.locator("article").inner_text()
    assert "from version 1.0.0 to 1.1.0" in shown
    for heading in ("New (1)", "Changed (1)", "Moved (1)", "Removed (1)"):
        assert heading in shown
    assert "v/sub/Third.md" in shown
    opened.locator("article a", has_text="😀").click()
    assert opened.locator(":target").inner_text().startswith("😀")
    opened.goto((tmp_path / "site/hot/index.html").as_uri())
    assert opened.locator(".lore-tags a").all_inner_texts() == ["#fresh"]
    assert opened.locator("#changed + ul a").all_inner_texts() == ["Home", "New"]
    without, _ = build_pack(read_recipe(recipe), tmp_path / "out", previous=Path("none"))
    assert "without an earlier version" in site_of(Path(without.pack))["changes/index.html"]


def test_lint_report_filters(opened: Any, unpacked: Callable[..., Path]) -> None:
    site = unpacked(
        {
            **FILES,
            "Bad.md": "---\na: [\n---\n[[Gone]] [[Home#No]] [[Twin]]\n",
            "a/Twin.md": "",
            "b/Twin.md": "",
        }
    )
    opened.goto((site / "lint/index.html").as_uri())
    rows = opened.locator(".lore-lint tbody tr:visible")
    assert rows.count() > 4
    opened.locator("select[name=rule]").select_option("broken-link")
    assert rows.count() == 2
    opened.locator("select[name=severity]").select_option("info")
    assert rows.count() == 0
    opened.locator("select[name=severity]").select_option("")
    rows.first.locator("a").click()
    assert opened.locator("h1").inner_text() == "Bad"


def test_glossary_names_what_diagrams_draw(opened: Any, unpacked: Callable[..., Path]) -> None:
    opened.goto((unpacked(FILES) / "glossary/index.html").as_uri())
    rows = opened.locator("article tbody tr").all_inner_texts()
    assert [re.split(r"\s+", row) for row in rows] == [
        ["Alpha", "Beta", "Other"],
        ["Beta", "Other"],
    ]


def test_graph_is_searched_coloured_and_opened(opened: Any, unpacked: Callable[..., Path]) -> None:
    opened.goto((unpacked(FILES) / "graph/index.html").as_uri())
    canvas = opened.locator(".lore-graph canvas[data-drawn='3']")
    canvas.wait_for()
    assert len(set(canvas.evaluate(PIXELS))) > 3
    opened.locator("select[name=colour]").select_option("tag")
    assert "a/b" in opened.locator(".lore-graph-legend").inner_text()
    opened.locator("input[name=find]").fill("oth")
    assert opened.locator(".lore-graph-list a").all_inner_texts() == ["Other"]
    opened.locator("select[name=depth]").select_option("1")
    opened.keyboard.press("Tab")
    opened.locator("input[name=find]").press("Enter")
    opened.wait_for_url("**/v/other/**")
    opened.locator(".lore-facts a", has_text="Graph").click()
    opened.locator(".lore-graph canvas[data-drawn]").wait_for()
    assert opened.locator("select[name=depth]").input_value() == "1"
    assert opened.locator(".lore-graph-list a").all_inner_texts() == ["Other", "Home"]


PIXELS = """canvas => { const p = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const out = []; for (let i = 0; i < p.length; i += 4) if (p[i + 3]) out.push(`${p[i]},${p[i + 1]},${p[i + 2]}`);
    return out; }"""


def test_files_for_agents_and_crawlers(build: Build) -> None:
    files = site_of(build(FILES).path)
    assert files["v/home.md"].startswith("---\ntags: [a/b, A]") and "# Home" in files["v/home.md"]
    assert re.search(r"^- \[Home\]\(v/home\.md\)", files["llms.txt"], re.MULTILINE)
    assert "Back to [[Home#Same]]." in files["llms-full.txt"]
    assert files["robots.txt"].splitlines()[-1] == "Sitemap: https://lorepack.invalid/sitemap.xml"
    space = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "a": "http://www.w3.org/2005/Atom"}
    sitemap = ElementTree.fromstring(files["sitemap.xml"])
    places = [loc.text for loc in sitemap.findall("s:url/s:loc", space)]
    pages = [n for n in files if n.endswith("index.html")]
    assert sorted(places) == sorted(
        f"https://lorepack.invalid/{n.removesuffix('index.html')}" for n in pages
    )
    assert [m.text for m in sitemap.findall("s:url/s:lastmod", space)] == ["2026-02-03"]
    feed = ElementTree.fromstring(files["atom.xml"])
    assert [e.findtext("a:title", namespaces=space) for e in feed.findall("a:entry", space)] == [
        "Home"
    ]
    home = files["v/home/index.html"]
    assert '<meta property="og:title" content="Home">' in home
    data = json.loads(re.findall(r'<script type="application/ld\+json">(.*?)</script>', home)[0])
    assert data["name"] == "Home" and data["dateModified"] == "2026-02-03"


def test_long_packs_split_their_full_text(build: Build) -> None:
    big = "word " * 160_000
    files = site_of(build({f"{n}.md": f"{n} {big}" for n in range(5)}).path)
    parts = [name for name in files if re.fullmatch(r"llms-full-\d+\.txt", name)]
    assert len(parts) == 3 and all(f"({name})" in files["llms-full.txt"] for name in parts)
    assert all(len(files[name]) <= 2_100_000 for name in parts)


def test_a_declared_address_is_used(build: Build) -> None:
    built = build(FILES, extra='[site]\nurl = "https://docs.example.org/team"')
    files = site_of(built.path)
    home = files["v/home/index.html"]
    assert '<link rel="canonical" href="https://docs.example.org/team/v/home/">' in home
    assert "https://docs.example.org/team/v/home/" in files["sitemap.xml"]
    assert not any("lorepack.invalid" in text for text in files.values())


def test_addresses_follow_the_server_or_the_host(demo_pack: Path, tmp_path: Path) -> None:
    with serve(demo_pack) as server:
        for name in ("sitemap.xml", "atom.xml", "robots.txt"):
            text = httpx.get(f"{server}/site/demo/{name}").text
            assert f"{server}/site/demo/" in text and "lorepack.invalid" not in text
    folder = tmp_path / "www"
    for url, root in (("https://host.example/docs/", "/docs/"), ("/docs", "/docs/"), ("/", "/")):
        run = [str(LOREPACK), "site", str(demo_pack), str(folder), "--url", url]
        assert subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
        assert f'href="{root}assets/' in (folder / "404.html").read_text()
        assert "lorepack.invalid" not in (folder / "sitemap.xml").read_text()


def test_a_rebuild_renders_what_changed(tmp_path: Path) -> None:
    """One page of 60: it, its neighbours in folder and links, and the generated pages."""
    files = {
        f"d{n % 6}/Page {n}.md": f"Number {n} to [[Page {(n + 1) % 60}]].\n" for n in range(60)
    }
    vault = write_files(tmp_path / "vault", files)
    recipe = read_recipe(write_recipe(tmp_path, vault))
    build_pack(recipe, tmp_path / "one")
    (vault / "d3/Page 3.md").write_text("Changed, to [[Page 4]].\n")
    counts: list[int] = []
    summary, _ = build_pack(
        recipe, tmp_path / "two",
        progress=lambda stage, done, total: counts.append(done) if stage == "render" and total else None,
    )  # fmt: skip
    assert 0 < len(counts) < 12
    one, two = (site_of(tmp_path / n / "test-1.0.0.lorepack") for n in ("one", "two"))
    differing = {name for name in one if one[name] != two.get(name)}
    assert {"v/d3/page-3/index.html", "v/d3/page-3.md", "llms-full.txt"} <= differing
    assert "v/d1/page-1/index.html" not in differing
    shown = summary.pack
    (tmp_path / "cache").mkdir()
    environment = {"LOREPACK_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
    fresh = [str(LOREPACK), "build", str(recipe.path), "--out", str(tmp_path / "three")]
    subprocess.run(fresh, check=True, capture_output=True, env=environment)
    assert Path(shown).read_bytes() == (tmp_path / "three/test-1.0.0.lorepack").read_bytes()


def test_site_only_and_no_site(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, write_files(tmp_path / "vault", FILES))
    build = [str(LOREPACK), "build", str(recipe), "--out", str(tmp_path / "out"), "--json"]
    only = json.loads(
        subprocess.run([*build, "--site-only"], check=True, capture_output=True).stdout
    )
    site = tmp_path / "out/test-1.0.0-site"
    assert Path(only["pack"]) == site and (site / "v/home/index.html").is_file()
    assert not list((tmp_path / "out").glob("*.lorepack"))
    subprocess.run([*build, "--site-only"], check=True, capture_output=True)
    none = json.loads(subprocess.run([*build, "--no-site"], check=True, capture_output=True).stdout)
    with closing(open_pack(Path(none["pack"]))) as connection:
        assert connection.execute("SELECT count(*) FROM sqlar").fetchone()[0] == 0
        assert connection.execute("SELECT count(*) FROM pages").fetchone()[0] == 3
    both = subprocess.run(
        [*build, "--no-site", "--site-only"], capture_output=True, text=True, check=False
    )
    assert both.returncode == 2 and "nothing to build" in both.stderr
    result = build_site(read_recipe(recipe), tmp_path / "again")[0]
    assert sorted(p.name for p in Path(result.pack).iterdir()) == sorted(
        p.name for p in site.iterdir()
    )


def test_serving_a_pack_without_a_site(build: Build, tmp_path: Path) -> None:
    recipe = read_recipe(write_recipe(tmp_path, write_files(tmp_path / "vault", FILES)))
    pack = Path(build_pack(recipe, tmp_path / "out", site=False)[0].pack)
    verify = subprocess.run([str(LOREPACK), "verify", str(pack)], capture_output=True, check=False)
    assert verify.returncode == 0
    with serve(pack) as server:
        assert httpx.get(f"{server}/site/test/").status_code == 404
