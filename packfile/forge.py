"""Addresses of files on the sites that host repositories."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

_GITLAB, _BITBUCKET, _GITEA = "/-/blob/{}/", "/src/{}/", "/src/commit/{}/"
_PATHS = {"gitlab.com": _GITLAB, "bitbucket.org": _BITBUCKET, "codeberg.org": _GITEA}


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
