"""Ask registries where a package's repository is.

Only the registries themselves are asked, each over HTTPS at its own host, or through its own
client, which knows the user's mirror: nothing that a manifest says chooses a host. Answers are kept
for a week; a failure is no answer.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2 as httpx

from lorepack.manifests.model import Wanted
from lorepack.manifests.repos import repo_of_url
from lorepack.models.convert import cache_dir
from lorepack.util.untrusted import tables

KEPT = 7 * 24 * 3600
"""Seconds for which an answer is kept."""
SECONDS = 5.0
"""For one question over HTTPS, and for one of a client's own connections."""
_CLIENT_SECONDS = 20
_AT_ONCE = 8
_MAX_ANSWER = 2_000_000
_AGENT = "lorepack (repository look-up)"
HOSTS = {
    "cargo": "https://crates.io",
    "maven": "https://repo1.maven.org",
    "nuget": "https://api.nuget.org",
    "packagist": "https://repo.packagist.org",
    "rubygems": "https://rubygems.org",
}
"""Where each ecosystem's packages are described; pypi and npm are asked through their clients."""

_CREATE = """
CREATE TABLE IF NOT EXISTS repos (
    package TEXT PRIMARY KEY, repo TEXT NOT NULL, asked INTEGER NOT NULL
) WITHOUT ROWID
"""
_GET = "SELECT repo FROM repos WHERE package = ? AND asked BETWEEN ? AND ?"
_PUT = "INSERT OR REPLACE INTO repos (package, repo, asked) VALUES (?, ?, ?)"


class NoAnswer(Exception):
    """A registry did not answer; what it would have said is unknown."""


Ask = Callable[[Wanted], str]


def find_repos(
    wanted: Sequence[Wanted], *, offline: bool, ask: Ask | None = None
) -> tuple[dict[Wanted, str], list[Wanted]]:
    """Return the repository of each package (``owner/name``, '' if it has none), and the unknown.

    Args:
        offline: whether only answers of the last week count.
        ask: asks about one package; raises `NoAnswer`.
    """
    found = {entry: entry.repo for entry in wanted if entry.repo or entry.ecosystem == "go"}
    missing = [entry for entry in wanted if entry not in found]
    file = cache_dir() / "registries.sqlite"
    known = _load(file, missing)
    found |= known
    missing = [entry for entry in missing if entry not in known]
    if offline or not missing:
        return found, missing
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(lambda entry: _answer(entry, ask or ask_registry), missing))
    fresh = {e: repo for e, repo in zip(missing, answers, strict=True) if repo is not None}
    _save(file, fresh)
    return found | fresh, [entry for entry in missing if entry not in fresh]


def ask_registry(entry: Wanted) -> str:
    """Return the repository that a package's registry names, '' if it names none.

    Raises:
        NoAnswer: the registry, or the client for it, did not answer.
    """
    if entry.ecosystem == "pypi":
        return _ask_pip(entry.package)
    if entry.ecosystem == "npm":
        return _ask_npm(entry.package)
    return _READ[entry.ecosystem](_fetch(HOSTS[entry.ecosystem], entry))


def _answer(entry: Wanted, ask: Ask) -> str | None:
    try:
        return ask(entry)
    except (NoAnswer, KeyError):
        return None


def _fetch(host: str, entry: Wanted) -> str:
    """Fetch a package's description; a redirection to elsewhere is no answer."""
    path = _path(entry)
    try:
        with httpx.stream(
            "GET", f"{host}/{path}", timeout=SECONDS, follow_redirects=False,
            headers={"User-Agent": _AGENT},
        ) as answer:  # fmt: skip
            if answer.status_code == 404:
                return ""
            if answer.status_code != 200:
                raise NoAnswer(f"{host} answers {answer.status_code}")
            data = b""
            for block in answer.iter_bytes():
                data += block
                if len(data) > _MAX_ANSWER:
                    raise NoAnswer(f"{host} says too much")
    except httpx.HTTPError as error:
        raise NoAnswer(f"{host} does not answer ({error})") from error
    return data.decode("utf-8", "replace")


def _path(entry: Wanted) -> str:
    name = quote(entry.package, safe="")
    match entry.ecosystem:
        case "cargo":
            return f"api/v1/crates/{name}"
        case "rubygems":
            return f"api/v1/gems/{name}.json"
        case "packagist":
            return f"p2/{quote(entry.package.lower(), safe='/')}.json"
        case "nuget":
            low = quote(entry.package.lower(), safe="")
            return f"v3-flatcontainer/{low}/{quote(entry.version.lower(), safe='')}/{low}.nuspec"
    group, _, artifact = entry.package.partition(":")
    folder = f"{quote(group.replace('.', '/'), safe='/')}/{quote(artifact, safe='')}"
    version = quote(entry.version, safe="")
    return f"maven2/{folder}/{version}/{quote(artifact, safe='')}-{version}.pom"


def _json(text: str) -> Mapping[str, Any]:
    try:
        return tables(json.loads(text or "{}"))
    except (ValueError, RecursionError) as error:
        raise NoAnswer("the registry's answer is no JSON") from error


def _first_repo(*urls: object) -> str:
    return next((repo for url in urls if isinstance(url, str) and (repo := repo_of_url(url))), "")


def _read_crate(text: str) -> str:
    crate = tables(_json(text).get("crate"))
    return _first_repo(crate.get("repository"), crate.get("homepage"))


def _read_gem(text: str) -> str:
    data = _json(text)
    return _first_repo(
        *(data.get(k) for k in ("source_code_uri", "homepage_uri", "bug_tracker_uri"))
    )


def _read_composer(text: str) -> str:
    versions = [entry for found in tables(_json(text).get("packages")).values() for entry in found]
    return _first_repo(*(tables(tables(entry).get("source")).get("url") for entry in versions))


_READ: Mapping[str, Callable[[str], str]] = {
    "cargo": _read_crate, "rubygems": _read_gem, "packagist": _read_composer,
    "nuget": _first_repo, "maven": _first_repo,
}  # fmt: skip


def _ask_pip(name: str) -> str:
    """Ask through pip, which builds nothing for it and installs nothing."""
    report = _run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps",
         "--only-binary", ":all:", "--disable-pip-version-check", "--quiet", "--retries", "0",
         "--timeout", str(int(SECONDS)), "--report", "-", "--", name]
    )  # fmt: skip
    installs = _json(report).get("install") or [{}]
    metadata = tables(tables(installs[0]).get("metadata"))
    listed = metadata.get("project_url") or []
    urls = [str(url).partition(",") for url in listed if isinstance(url, str)]
    telling = ("source", "code", "repo", "github", "home", "tracker", "issue")
    best = sorted(urls, key=lambda url: next(
        (n for n, word in enumerate(telling) if word in url[0].lower()), len(telling)))  # fmt: skip
    return _first_repo(*(url[2].strip() for url in best), metadata.get("home_page"))


def _ask_npm(name: str) -> str:
    """Ask through npm; its project settings are those of an empty folder."""
    if shutil.which("npm") is None:
        raise NoAnswer("npm is not installed")
    told = _run(
        ["npm", "view", "--json", f"--fetch-timeout={int(SECONDS * 1000)}", "--fetch-retries=0",
         "--", name]
    )  # fmt: skip
    data = _json(told)
    fields = (data.get("repository"), data.get("homepage"), data.get("bugs"))
    named = [tables(field).get("url") or field for field in fields]
    short = next((str(f).partition(":")[2] for f in named if str(f).startswith("github:")), "")
    return short or _first_repo(*named)


def _run(command: list[str]) -> str:
    with tempfile.TemporaryDirectory(prefix="lorepack-ask-") as empty:
        try:
            done = subprocess.run(
                command, cwd=empty, capture_output=True, text=True, check=False,
                timeout=_CLIENT_SECONDS, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoAnswer(f"{command[0]} does not answer") from error
    if done.returncode:
        raise NoAnswer(f"{command[0]} fails")
    return done.stdout


def _key(entry: Wanted) -> str:
    """Some registries describe each version apart; the repository is the same for all."""
    return f"{entry.ecosystem}:{entry.package}"


def _load(file: Path, wanted: Sequence[Wanted]) -> dict[Wanted, str]:
    if not file.is_file():
        return {}
    now = int(time.time())
    found = {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=30)) as cache:
        for entry in wanted:
            row = cache.execute(_GET, (_key(entry), now - KEPT, now)).fetchone()
            if row:
                found[entry] = str(row[0])
    return found


def _save(file: Path, answers: Mapping[Wanted, str]) -> None:
    with suppress(OSError, sqlite3.Error):
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=30)) as cache, cache:
            cache.execute(_CREATE)
            now = int(time.time())
            cache.executemany(_PUT, ((_key(e), repo, now) for e, repo in answers.items()))
