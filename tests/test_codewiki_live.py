"""Google CodeWiki's form, served by a local site to a real Chromium: whole, slow, empty, gone."""

from __future__ import annotations

import base64
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack_builder.acquire.codewiki.live import has_wiki, read_wiki
from lorepack_builder.acquire.codewiki.live.graphviz import graphviz_mermaid
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import Built

pytest.importorskip("playwright.sync_api")
if shutil.which("chromium") is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

SHA = "0123456789abcdef0123456789abcdef01234567"
SVG = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">
<svg xmlns="http://www.w3.org/2000/svg"><g class="graph"><title>G</title>
<g id="clust1" class="cluster"><title>cluster_core</title>
<polygon points="0,0 0,-100 100,-100 100,0 0,0"/><text>Core &amp; parts</text></g>
<g id="node1" class="node"><title>App</title><ellipse cx="50" cy="-50" rx="20" ry="10"/><text>App</text></g>
<g id="node2" class="node"><title>Router</title><polygon points="180,-20 220,-20 220,-60 180,-60"/>
<text>Router</text><text>"quoted"</text></g>
<g id="edge1" class="edge"><title>App&#45;&gt;Router</title><path d="M0,0"/><text>calls</text></g>
</g></svg>"""
IMAGE = "data:image/svg+xml;base64," + base64.b64encode(SVG.encode()).decode()
SECTIONS = f"""
<body-content-section><documentation-markdown><h1 id="overview">Overview</h1>
<p>The app starts in <a href="https://github.com/o/app/blob/{SHA}/src/app.py#L10-L40">app.py</a>,
see <a href="#routing-1">routing</a> and <a href="https://github.com/x/other">other</a>.</p>
<h2 id="tables">Tables</h2><table><tr><th>Name</th><th>What</th></tr><tr><td>App</td><td>starts | stops</td></tr></table>
<pre><code class="language-python">app = App()
app.run()</code></pre><p>After the code.</p><img src="{IMAGE}" alt="diagram"></documentation-markdown></body-content-section>
<body-content-section><documentation-markdown><h2 id="routing-1">Routing</h2><p>Routes. <button>copy</button></p>
<h3 id="deep">Deep part</h3><p>Text with <a href="/github.com/o/app#tables">tables</a>.</p>
</documentation-markdown></body-content-section>
"""
SHELL = "<html><body><app-root>{}</app-root><script>{}</script></body></html>"


def grown(delay: int) -> str:
    """A page that fills itself, as a real one does."""
    code = f"setTimeout(() => document.querySelector('app-root').innerHTML = {json.dumps(SECTIONS)}, {delay})"
    return SHELL.format("", code)


@dataclass
class Site:
    """A local site; ``answers`` are (status, headers, body) given one after the other, then the last."""

    answers: list[tuple[int, dict[str, str], str]]
    robots: str = "User-agent: *\nAllow: /\n"
    address: str = ""
    loads: list[tuple[float, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    given = Site([(200, {}, grown(300))])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = 404, {}, ""
            if self.path == "/robots.txt":
                status, body = 200, given.robots
            elif self.path.startswith("/github.com/"):
                with given.lock:
                    given.at_once += 1
                    given.most_at_once = max(given.most_at_once, given.at_once)
                    status, headers, body = given.answers[
                        min(len(given.loads), len(given.answers) - 1)
                    ]
                    given.loads.append((time.monotonic(), self.headers["User-Agent"]))
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())
            if self.path.startswith("/github.com/"):
                with given.lock:
                    given.at_once -= 1

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    given.address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("LOREPACK_CODEWIKI_URL", given.address)
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    live = "lorepack_builder.acquire.codewiki.live"
    monkeypatch.setattr(f"{live}.browser.BACK_OFF", 0.05)
    monkeypatch.setattr(f"{live}.browser.SECONDS", 6)
    monkeypatch.setattr(f"{live}.pace.INTERVAL", 0.2)
    yield given
    server.shutdown()
    server.server_close()


@pytest.fixture
def build_live(tmp_path: Path, site: Site) -> Callable[..., Built]:
    def build(**options: bool) -> Built:
        recipe = tmp_path / "r.toml"
        recipe.write_text(
            '[pack]\nname="p"\nversion="1"\n[[source]]\nname="w"\nkind="codewiki"\nrepo="o/app"\n'
            '[embed]\nmodel="none"\n'
        )
        return Built(*build_pack(read_recipe(recipe), tmp_path / "out", **options))  # type: ignore[arg-type]

    return build


def test_a_wiki_becomes_pages_with_all_that_it_shows(build_live: Callable[..., Built]) -> None:
    built = build_live()
    pack = built.mount().connection()
    pages = {
        r["path"]: r["markdown"]
        for r in pack.execute("SELECT path, markdown FROM pages ORDER BY path")
    }
    assert list(pages) == ["w/overview.md", "w/routing.md"]
    overview = pages["w/overview.md"]
    order = [overview.index(text) for text in ("# Overview", "## Tables", "| Name | What |", "app.run()",
                                               "After the code.", "```mermaid")]  # fmt: skip
    assert order == sorted(order)
    assert "```python\napp = App()\napp.run()\n```" in overview
    assert "copy" not in pages["w/routing.md"]
    edges = pack.execute(
        "SELECT e.kind, s.name, d.kind, d.name, d.label, e.label, e.fragment FROM edges e "
        "JOIN nodes s ON s.id = e.src JOIN nodes d ON d.id = e.dst"
    )
    found = {(r[0], r[1], r[2], r[3] if not r[3].startswith("w/overview.md#d") else r[4], r[5], r[6])
             for r in edges}  # fmt: skip
    assert ("code_ref", "w/overview.md", "file", "o/app/src/app.py", "L10-L40", "") in found
    assert ("cross_repo_ref", "w/overview.md", "repo", "x/other", "", "") in found
    assert ("link", "w/overview.md", "page", "w/routing.md", "routing", "routing") in found
    assert any(e[:3] == ("section_link", "w/routing.md", "chunk") for e in found)
    assert any(
        e[0] == "diagram_edge" and e[3] == "Router 'quoted'" and e[4] == "calls" for e in found
    )
    assert any(e[0] == "diagram_member" and e[2] == "diagram_node" for e in found)
    assert tuple(pack.execute("SELECT web, revision FROM sources").fetchone()) == (
        "https://github.com/o/app", SHA
    )  # fmt: skip
    assert built.rules() == []


def test_graphviz_drawings_keep_clusters_and_labels() -> None:
    assert graphviz_mermaid(SVG).split("\n") == [
        "graph TD", '    subgraph c1["Core & parts"]', '        n1["App"]', "    end",
        """    n2["Router 'quoted'"]""", '    n1 -->|"calls"| n2', "",
    ]  # fmt: skip
    assert graphviz_mermaid("<svg><circle/></svg>") == ""


def test_the_same_commit_is_not_fetched_again(
    site: Site, build_live: Callable[..., Built], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build_live()
    assert len(site.loads) == 1
    assert build_live(force=True).summary.digest == first.summary.digest
    assert build_live(force=True, offline=True).summary.digest == first.summary.digest
    now = time.time()
    monkeypatch.setattr("lorepack_builder.acquire.codewiki.live.time.time", lambda: now + 90_000)
    assert read_wiki("o/app", SHA).commit == SHA
    assert len(site.loads) == 1
    read_wiki("o/app")
    assert len(site.loads) == 2
    with pytest.raises(LorepackError, match="describes 0123456789, not ffffffffff"):
        read_wiki("o/app", "f" * 40)


def test_offline_refuses_and_loads_nothing(site: Site) -> None:
    with pytest.raises(LorepackError, match="was not read before"):
        read_wiki("o/app", offline=True)
    assert site.loads == []


def test_we_say_who_we_are_and_ask_robots(site: Site) -> None:
    read_wiki("o/app")
    assert "Lorepack/" in site.loads[0][1]
    site.robots = "User-agent: *\nDisallow: /github.com/\n"
    with pytest.raises(LorepackError, match=r"is forbidden to programs by .*/robots.txt"):
        read_wiki("o/private")
    assert len(site.loads) == 1


EMPTY = SHELL.format("<p>Loading</p>", "")
FAILING = {
    "a slow page": ([(200, {}, grown(3500))], 1),
    "an empty shell first": ([(200, {}, EMPTY), (200, {}, grown(0))], 2),
    "throttled first": ([(429, {"Retry-After": "1"}, ""), (200, {}, grown(0))], 2),
    "broken first": ([(500, {}, "oops"), (503, {}, ""), (200, {}, grown(0))], 3),
}


@pytest.mark.parametrize(("answers", "loads"), FAILING.values(), ids=FAILING)
def test_what_fails_first_is_tried_again(
    site: Site, answers: list[tuple[int, dict[str, str], str]], loads: int
) -> None:
    site.answers = answers
    assert len(read_wiki("o/app").sections) == 2
    assert len(site.loads) == loads


def test_an_empty_shell_is_never_no_wiki(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorepack_builder.acquire.codewiki.live.browser.SECONDS", 1)
    site.answers = [(200, {}, EMPTY)]
    with pytest.raises(LorepackError, match=r"gives no wiki now .*; it may have one"):
        read_wiki("o/app")
    assert len(site.loads) == 4


NOT_THERE = {
    "404": (404, {}, "gone"),
    "a page that says so": (200, {}, SHELL.format("<h1>Repository not found</h1>", "")),
    "said late": (200, {}, SHELL.format("", "setTimeout(() => document.body.innerText = 'No wiki', 500)")),
}  # fmt: skip


@pytest.mark.parametrize("answer", NOT_THERE.values(), ids=NOT_THERE)
def test_a_wiki_that_is_not_there_is_told_at_once(
    site: Site, answer: tuple[int, dict[str, str], str]
) -> None:
    site.answers = [answer]
    with pytest.raises(LorepackError, match="does not exist"):
        read_wiki("o/app")
    assert len(site.loads) == 1


def test_coverage_is_asked_once_a_day_and_failures_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lorepack_builder.acquire.codewiki.live.browser.TRIES", 1)
    site.answers = [(404, {}, ""), (500, {}, ""), (200, {}, grown(0))]
    assert [has_wiki(name) for name in ("o/none", "o/none", "o/app", "o/app", "o/app")] == [
        False, False, None, True, True
    ]  # fmt: skip
    assert len(site.loads) == 3, site.loads


def test_loads_keep_their_distance_and_are_three_at_most(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lorepack_builder.acquire.codewiki.live.pace.INTERVAL", 1.0)
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda n: read_wiki(f"o/app{n}"), range(5)))
    times = sorted(moment for moment, _ in site.loads)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    # A browser takes a while to start, which a turn does not wait for.
    assert len(times) == 5 and sum(gaps) > 3.0
    assert site.most_at_once <= 3


def test_hostile_sections_stay_text(site: Site, build_live: Callable[..., Built]) -> None:
    evil = (
        '<body-content-section><documentation-markdown><h1 id="x"><script>alert(1)</script>Evil</h1>'
        '<p onclick="alert(1)">a <a href="javascript:alert(1)">link</a></p><img src=x onerror=alert(1)>'
        "<p>&lt;script&gt;alert(2)&lt;/script&gt;</p></documentation-markdown></body-content-section>"
    )
    site.answers = [(200, {}, SHELL.format(evil, ""))]
    built = build_live()
    import zlib

    rows = (
        built.mount()
        .connection()
        .execute("SELECT sz, data FROM sqlar WHERE name LIKE 'w/evil%index.html'")
    )
    html = "".join((zlib.decompress(d) if len(d) < sz else d).decode() for sz, d in rows)
    assert "Evil" in html
    body = html[html.index("<article") : html.index("</article>")]
    assert not any(sign in body for sign in ("<script", "onerror=", 'href="javascript', "onclick"))
