"""Load a wiki's page in headless Chromium; tell an empty shell from a wiki that is not there."""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import httpx2 as httpx

from lorepack.errors import LorepackError
from lorepack_builder.acquire.codewiki.live.pace import paced

SECONDS = 30
"""For one load of a page."""
TRIES = 4
BACK_OFF = 5.0
"""Seconds before the second try; each later one waits twice as long as the one before."""
_LONGEST_WAIT = 60.0
_SECTION = "body-content-section, .body-content-section"
_CONTENT = "documentation-markdown, .documentation-markdown"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_NOT_FOUND = re.compile(
    r"(?:repo(?:sitory)?|wiki|page)\W+(?:was |could )?not (?:be )?found"
    r"|(?:no|has no) (?:code ?)?wiki|not (?:been )?(?:indexed|generated) yet",
    re.IGNORECASE,
)
_READ = f"""
() => [...document.querySelectorAll('{_SECTION}')]
    .filter(section => !section.parentElement.closest('{_SECTION}'))
    .filter(section => section.innerText.trim())
    .map(section => section.outerHTML)
"""


class NoWiki(LorepackError):
    """The site answers that it has no such wiki."""


@dataclass(frozen=True)
class _Loaded:
    """What a load brought: sections, or whether the wiki does not exist, or why to try again."""

    sections: tuple[str, ...] = ()
    missing: bool = False
    reason: str = ""
    wait: float = 0.0


def user_agent() -> str:
    """Return who we say we are."""
    return f"Lorepack/{version('lorepack')} (reads documentation; headless Chromium)"


def load_sections(base: str, repo: str) -> tuple[str, ...]:
    """Return the sections of a wiki as HTML.

    Raises:
        LorepackError: the site has no such wiki, forbids it, gives nothing after `TRIES` tries, or
            there is no browser.
    """
    url = f"{base}/github.com/{repo}"
    _ask_robots(base, url)
    reason, wait = "", BACK_OFF
    for number in range(TRIES):
        if number:
            time.sleep(min(wait, _LONGEST_WAIT))
        with paced(f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"):
            loaded = _load(url)
        if loaded.sections:
            return loaded.sections
        if loaded.missing:
            raise NoWiki(f"{url} does not exist", "leave the source out, or correct repo")
        reason = loaded.reason
        wait = max(loaded.wait, BACK_OFF * 2 ** (number + 1) / 2)
    raise LorepackError(
        f"{url} gives no wiki now ({reason}); it may have one", "try again later, or --offline"
    )


def _load(url: str) -> _Loaded:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(
                executable_path=_executable(),
                # Chromium's sandbox does not work for root, as in most CI jobs.
                args=["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [],
            )
        except Error as error:
            raise LorepackError(f"Chromium does not start ({_first_line(error)})",
                                "install chromium") from error  # fmt: skip
        try:
            page = browser.new_page(user_agent=user_agent())
            return _read(page, url)
        except Error as error:
            return _Loaded(reason=_first_line(error))
        finally:
            browser.close()


def _read(page: Any, url: str) -> _Loaded:
    from playwright.sync_api import Error
    from playwright.sync_api import TimeoutError as Late

    end = time.monotonic() + SECONDS
    answers: list[Any] = []
    page.on("response", lambda r: answers.append(r) if r.request.is_navigation_request() else None)
    try:
        page.goto(url, timeout=SECONDS * 1000, wait_until="domcontentloaded")
    except Error:
        # An error without a body is none of Chromium's pages, but an answer all the same.
        if not answers:
            raise
    if answers and (refused := _refused(answers[-1])):
        return refused
    try:
        left = max(0.1, end - time.monotonic())
        page.wait_for_function(
            f"() => [...document.querySelectorAll('{_CONTENT}')].some(e => e.innerText.trim())"
            f" || {_NOT_FOUND_SCRIPT}.test(document.body.innerText)",
            timeout=left * 1000,
        )
    except Late:
        return _Loaded(reason=f"an empty page after {SECONDS} s")
    _settle(page, end)
    sections = tuple(page.evaluate(_READ))
    if sections:
        return _Loaded(sections)
    return _Loaded(missing=True)


def _refused(answer: Any) -> _Loaded | None:
    """Return what an HTTP status alone says, or None."""
    if answer.status in (404, 410):
        return _Loaded(missing=True)
    if answer.status == 429 or answer.status >= 500:
        told = answer.headers.get("retry-after", "")
        wait = float(told) if told.isdigit() else 0.0
        return _Loaded(reason=f"it answers {answer.status}", wait=wait)
    return None


def _settle(page: Any, end: float) -> None:
    """Wait until the page grows no more: sections come one after the other."""
    before = -1
    while time.monotonic() < end:
        size = page.evaluate("() => document.body.innerHTML.length")
        if size == before:
            return
        before = size
        page.wait_for_timeout(400)


_NOT_FOUND_SCRIPT = f"/{_NOT_FOUND.pattern}/i"


def _ask_robots(base: str, url: str) -> None:
    """Refuse what the site's robots.txt forbids (RFC 9309)."""
    robots = f"{urlsplit(base).scheme}://{urlsplit(base).netloc}/robots.txt"
    try:
        answer = httpx.get(robots, timeout=SECONDS, headers={"User-Agent": user_agent()})
    except httpx.HTTPError as error:
        raise LorepackError(f"{robots} cannot be read ({error})", "try again later") from error
    rules = RobotFileParser()
    if answer.status_code >= 500:
        raise LorepackError(f"{robots} answers {answer.status_code}", "try again later")
    rules.parse(answer.text.splitlines() if answer.status_code == 200 else [])
    if not rules.can_fetch("Lorepack", url):
        raise LorepackError(f"{url} is forbidden to programs by {robots}", "leave the source out")


def _executable() -> str:
    try:
        import playwright  # noqa: F401
    except ImportError as error:
        raise LorepackError(
            "reading a live wiki needs playwright", "pip install 'lorepack[live]'"
        ) from error
    found = os.environ.get("LOREPACK_CHROMIUM") or next(
        filter(None, map(shutil.which, _BROWSERS)), ""
    )
    if not found:
        raise LorepackError(
            "reading a live wiki needs Chromium", "install chromium, or set LOREPACK_CHROMIUM"
        )
    return found


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:200]
