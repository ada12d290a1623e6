"""Addresses of files on the sites that host repositories."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

_GITLAB, _BITBUCKET, _GITEA = "/-/blob/{}/", "/src/{}/", "/src/commit/{}/"
_PATHS = {"gitlab.com": _GITLAB, "bitbucket.org": _BITBUCKET, "codeberg.org": _GITEA}


NO_LINES = (".ipynb", ".html", ".htm")
"""Files whose pages have lines of their own, which are not the file's."""


def repo_name(web: str) -> str:
    """Return ``owner/name`` of the repository that is browsed at ``web``; '' for none."""
    return urlsplit(web).path.strip("/")


def source_url(source: Mapping[str, str], path: str, lines: tuple[int, int] | None = None) -> str:
    """Return where a page's own file is shown as it was at its source's commit, or ''.

    Args:
        source: ``kind``, ``web``, ``revision`` and ``subdir``, as in the table ``sources``.
        path: the page's path in the pack.
    """
    if source["kind"] in ("codewiki", "notion", "archive"):
        # Their commit is that of what they are about, or their files are not in it.
        return ""
    inside = posixpath.join(source["subdir"], path.partition("/")[2])
    shown = None if path.lower().endswith(NO_LINES) else lines
    return blob_url(source["web"], source["revision"], inside, shown)


def blob_url(web: str, commit: str, path: str, lines: tuple[int, int] | None = None) -> str:
    """Return where ``path`` of the repository is shown as it was at ``commit``.

    Args:
        web: the repository's own address, ``https://host/owner/name``; '' gives ''.
        lines: first and last line, from 1.
    """
    if not web or not commit:
        return ""
    host = urlsplit(web).hostname or ""
    usual = _GITLAB if host.startswith("gitlab.") else "/blob/{}/"
    form = _PATHS.get(host, usual)
    return web + form.format(commit) + quote(path) + _lines(form, lines)


def _lines(form: str, lines: tuple[int, int] | None) -> str:
    if lines is None:
        return ""
    first, last = lines
    if form == _BITBUCKET:
        return f"#lines-{first}:{last}"
    end = "" if first == last else f"-{last}" if form == _GITLAB else f"-L{last}"
    return f"#L{first}{end}"
