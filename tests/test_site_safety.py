"""Everything in a source is untrusted: nothing of it runs, nothing is fetched for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lorepack.pack.site import put_site, unpack_site
from lorepack_builder.render.svg import sanitize_svg
from tests.conftest import Built, serve
from tests.hostile import SNIPPETS, SVG, VAULT

Build = Callable[..., Built]


@pytest.fixture(scope="module")
def hostile_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lorepack_builder.build import build_pack
    from lorepack_builder.recipe import read_recipe
    from tests.conftest import write_files, write_recipe

    folder = tmp_path_factory.mktemp("hostile")
    recipe = write_recipe(folder, write_files(folder / "vault", VAULT))
    recipe.write_text(recipe.read_text().replace("Test pack", "<script>window.pwned=1</script>"))
    summary, _ = build_pack(read_recipe(recipe), folder / "out")
    return Path(summary.pack)


@pytest.fixture(scope="module")
def hostile_site(hostile_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked") / "site"
    unpack_site(hostile_pack, folder)
    return folder


@pytest.fixture(params=["server", "server without its policy", "file"])
def address(request: Any, hostile_pack: Path, hostile_site: Path) -> Iterator[tuple[str, bool]]:
    """Where the site is, and whether the browser obeys the policy that it sends."""
    if request.param == "file":
        yield f"{hostile_site.as_uri()}/", True
    else:
        with serve(hostile_pack) as server:
            yield f"{server}/site/test/", request.param == "server"


def test_nothing_of_a_source_runs_or_is_fetched(
    browser: Any, hostile_site: Path, address: tuple[str, bool]
) -> None:
    assert len(SNIPPETS) >= 100
    base, policy = address
    context = browser.new_context(bypass_csp=not policy)
    page = context.new_page()
    seen: list[str] = []
    page.on("dialog", lambda dialog: seen.append(f"dialog {dialog.message}"))
    page.on("popup", lambda popup: seen.append(f"popup {popup.url}"))
    page.on(
        "request",
        lambda r: seen.append(r.url) if not r.url.startswith((base, "data:", "blob:")) else None,
    )
    page.on(
        "console",
        lambda m: (
            seen.append(f"{page.url}: {m.text}") if "Content Security Policy" in m.text else None
        ),
    )
    names = sorted(
        path.relative_to(hostile_site).as_posix() for path in hostile_site.rglob("*.html")
    )
    names.remove("404.html")  # made for the root of a host
    for name in (*names, *_attachments(hostile_site)):
        page.goto(base + name)
        if page.locator("pre.lore-mermaid, .lore-diagram").count():
            page.locator(".lore-diagram svg").first.wait_for()
            page.wait_for_timeout(1500)
        _touch_everything(page)
        assert page.evaluate("window.pwned") is None, name
        assert page.frames[1:] == [], name
        assert page.evaluate(_BAD) == [], name
    context.close()
    assert seen == []


def _attachments(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in (site / "files").rglob("*.*"))


_BAD = """() => [...document.querySelectorAll("*")].flatMap(e => [...e.attributes].filter(a =>
    a.name.startsWith("on") || (/^(href|src|action|formaction|xlink:href|data)$/.test(a.name)
    && /^[\\s\\x00-\\x20]*(javascript|vbscript|data:text)/i.test(a.value)))
    .map(a => `${e.tagName} ${a.name}=${a.value}`))"""


def _touch_everything(page: Any) -> None:
    """Send the events that handlers wait for, and open what folds."""
    page.evaluate(
        """() => { for (const e of document.querySelectorAll("article *")) {
            if (e.tagName === "DETAILS") e.open = true;
            for (const kind of ["mouseover", "focus", "pointerenter", "click"]) {
                if (kind === "click" && e.closest("a, button, label, summary")) continue;
                e.dispatchEvent(new Event(kind, { bubbles: true }));
            } } }"""
    )


def test_no_snippet_swallows_the_next(hostile_site: Path) -> None:
    html = (hostile_site / "v" / "snippets" / "index.html").read_text()
    assert [n for n in range(len(SNIPPETS)) if f"<p>{n}:</p>" not in html] == []


def test_active_attachments_are_text(hostile_site: Path) -> None:
    names = [path.name for path in (hostile_site / "files").rglob("*.*")]
    assert sorted(name.partition(".")[2] for name in names) == ["html.txt", "js.txt", "svg"]


def test_a_picture_keeps_its_shapes_alone() -> None:
    clean = sanitize_svg(SVG.encode()).decode()
    for bad in ("script", "onload", "onclick", "evil.example", "foreignObject", "<set", "@import"):
        assert bad not in clean
    assert "<rect" in clean and "<text" in clean


@pytest.mark.parametrize(
    "picture",
    [
        b"not xml",
        b"<svg>no namespace</svg>",
        b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>',
        b"",
        b"\xff\xfe\x00",
    ],
)
def test_a_picture_that_cannot_be_read_is_replaced(picture: bytes) -> None:
    assert b"not a valid SVG" in sanitize_svg(picture)


def test_a_site_never_leaves_its_folder(tmp_path: Path) -> None:
    from lorepack.errors import LorepackError

    for name in ("../x", "/etc/x", "a//b", "a/./b", "a\\b", "a/../../b", ""):
        with pytest.raises(LorepackError, match="would leave it"):
            put_site([("index.html", b""), (name, b"")], tmp_path / "site")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    from lorepack.errors import LorepackError

    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(LorepackError, match="is not empty"):
        put_site([("index.html", b"")], tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
