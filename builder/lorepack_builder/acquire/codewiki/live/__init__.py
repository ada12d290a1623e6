"""Google CodeWiki, read as a person would: one slow page load in a headless browser."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.models.convert import cache_dir
from lorepack_builder.acquire.codewiki.live.sections import wiki_documents
from lorepack_builder.acquire.folder import list_files
from lorepack_builder.acquire.ignore import ignore_rules
from lorepack_builder.acquire.repo import Acquired
from lorepack_builder.model import Source
from lorepack_builder.recipe import SourceSpec

BASE_URL = "https://codewiki.google"
URL_VARIABLE = "LOREPACK_CODEWIKI_URL"
FRESH = 24 * 3600
"""Seconds for which a wiki is not looked at again."""
_BLOB = re.compile(r"github\.com/([\w.-]+/[\w.-]+)/blob/([0-9a-f]{40})/")


def has_wiki(repo: str) -> bool | None:
    """Say whether a repository has a wiki; None if that cannot be told now.

    An answer is kept for `FRESH`; a wiki that was read for it need not be read again to build.
    """
    missing = _folder(repo) / "missing"
    try:
        if _is_fresh(missing.stat().st_mtime):
            return False
    except OSError:
        pass
    from lorepack_builder.acquire.codewiki.live.browser import NoWiki

    try:
        read_wiki(repo)
    except NoWiki:
        missing.parent.mkdir(parents=True, exist_ok=True)
        missing.touch()
        return False
    except LorepackError:
        return None
    return True


@dataclass(frozen=True)
class Wiki:
    """The sections of a wiki as HTML, the commit that it describes ('' if it names none)."""

    sections: tuple[str, ...]
    commit: str
    read: int


def acquire_live(spec: SourceSpec, source: Source, scratch: Path, *, offline: bool) -> Acquired:
    """Return the pages of a repository's wiki, written below ``scratch``.

    Raises:
        LorepackError: there is none, it cannot be read now, or must not be.
    """
    wiki = read_wiki(spec.repo, spec.ref, offline=offline)
    scratch.mkdir(parents=True, exist_ok=True)
    for name, text in wiki_documents(wiki.sections):
        (scratch / name).write_text(text, encoding="utf-8", newline="\n")
    source = replace(
        source, root=scratch, web=f"https://github.com/{spec.repo}", revision=wiki.commit
    )
    files, findings = list_files(source, ignore_rules(spec))
    return source, files, findings


def read_wiki(repo: str, commit: str = "", *, offline: bool = False) -> Wiki:
    """Return a repository's wiki.

    What was read before serves again if it is of ``commit``, or less than `FRESH` old.

    Args:
        commit: the commit that is wanted; '' takes what there is now.
        offline: whether nothing may be fetched.

    Raises:
        LorepackError: there is none, it cannot be read now, or must not be.
    """
    folder = _folder(repo)
    known = _load(folder, commit)
    if known and (commit or offline or _is_fresh(known.read)):
        return known
    if offline:
        raise LorepackError(
            f"the wiki of {repo} was not read before", "build once without --offline"
        )
    # The browser's driver is an extra, and slow to import.
    from lorepack_builder.acquire.codewiki.live.browser import load_sections

    sections = tuple(load_sections(_base(), repo))
    wiki = Wiki(sections, _commit(sections, repo), int(time.time()))
    if commit and wiki.commit != commit:
        raise LorepackError(
            f"the wiki of {repo} describes {wiki.commit[:10] or 'no commit'}, not {commit[:10]}",
            "correct ref, or leave it out",
        )
    _save(folder, wiki)
    return wiki


def _is_fresh(then: float) -> bool:
    """Say whether ``then`` is less than `FRESH` ago; a time to come tells of a wrong clock."""
    return 0 <= time.time() - then < FRESH


def _base() -> str:
    return os.environ.get(URL_VARIABLE, BASE_URL).rstrip("/")


def _folder(repo: str) -> Path:
    """Return where what was read of a wiki is kept."""
    return cache_dir() / "codewiki" / re.sub(r"[^\w.-]", "_", f"{_base()}/{repo}")


def _commit(sections: tuple[str, ...], repo: str) -> str:
    """Return the commit that most links into the repository's own code name."""
    found = Counter(
        sha
        for section in sections
        for name, sha in _BLOB.findall(section)
        if name.lower() == repo.lower()
    )
    return found.most_common(1)[0][0] if found else ""


def _load(folder: Path, commit: str) -> Wiki | None:
    try:
        name = commit or (folder / "newest").read_text().strip()
        data = json.loads((folder / f"{name}.json").read_bytes())
        return Wiki(tuple(map(str, data["sections"])), str(data["commit"]), int(data["read"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(folder: Path, wiki: Wiki) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = wiki.commit or "none"
    (folder / f"{name}.json").write_text(json.dumps(asdict(wiki)), encoding="utf-8")
    (folder / "newest").write_text(name)
