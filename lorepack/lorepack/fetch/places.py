"""Where a pack is: an address, a release on GitHub, or a registry of OCI artifacts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2 as httpx

from lorepack.errors import LorepackError
from lorepack.fetch.delta import Delta, listed_deltas
from lorepack.fetch.transfer import fetch_text
from lorepack.pack.format import SUFFIX
from lorepack.pack.signature import SUFFIX as SIGNATURE_SUFFIX
from lorepack.util.untrusted import dicts

_REPO = re.compile(r"(?P<repo>[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)(?:@(?P<tag>[^\s@]+))?")
_OCI = re.compile(r"oci://(?P<host>[^/\s]+)/(?P<name>[a-z0-9._/-]+?)(?::(?P<tag>[\w.-]+))?")
_SUM = re.compile(r"^([0-9a-fA-F]{64})[ \t]+\*?(?P<name>\S.*)$", re.MULTILINE)
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_TITLE = "org.opencontainers.image.title"
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Place:
    """A file's address, what is to be sent along, and its SHA-256 ('' where nobody says)."""

    url: str
    sha256: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    deltas: Sequence[Delta] = ()

    @property
    def signature(self) -> str:
        """Where its minisign signature is."""
        return self.url + SIGNATURE_SUFFIX


def find_place(reference: str) -> Place:
    """Return where ``reference`` leads: an address, ``owner/repo[@tag]``, ``oci://host/name:tag``.

    Raises:
        LorepackError: it is none of these, or there is no such release or artifact.
    """
    if reference.startswith(("https://", "http://")):
        return _place(reference, _listed_sum(reference))
    if match := _OCI.fullmatch(reference):
        return _artifact(match["host"], match["name"], match["tag"] or "latest")
    if match := _REPO.fullmatch(reference):
        return _release(match["repo"], match["tag"] or "")
    raise LorepackError(
        f"{reference!r} is no place of a pack", "give https://…, owner/repo@tag or oci://host/name"
    )


def _place(url: str, sha256: str) -> Place:
    return Place(url, sha256, deltas=_manifest_deltas(url, sha256) if sha256 else ())


def _manifest_deltas(url: str, sha256: str) -> Sequence[Delta]:
    """Return the deltas that ``manifest.json`` beside a pack lists for it."""
    try:
        text = fetch_text(urljoin(url, "manifest.json"))
        packs = _object(text, url).get("packs")
    except LorepackError:
        return ()
    own = [p for p in dicts(packs) if p.get("sha256") == sha256]
    return listed_deltas(own[0], url) if own else ()


def _listed_sum(url: str) -> str:
    """Return what ``SHA256SUMS`` beside a file says of it."""
    name = urlsplit(url).path.rpartition("/")[2]
    try:
        listed = fetch_text(urljoin(url, "SHA256SUMS"))
    except LorepackError:
        return ""
    sums = {match["name"].strip(): match[1].lower() for match in _SUM.finditer(listed)}
    return sums.get(name, "")


def _release(repo: str, tag: str) -> Place:
    base = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    token = os.environ.get("GITHUB_TOKEN", "")
    headers = {"Accept": "application/vnd.github+json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    which = f"tags/{tag}" if tag else "latest"
    release = _object(fetch_text(f"{base}/repos/{repo}/releases/{which}", headers), repo)
    packs = [a for a in dicts(release.get("assets")) if str(a.get("name", "")).endswith(SUFFIX)]
    if len(packs) != 1:
        names = ", ".join(str(a.get("name")) for a in packs) or "none"
        raise LorepackError(
            f"{repo} {tag or 'latest'}: a release must have one pack; this has {names}",
            "give the address of one",
        )
    url = str(packs[0].get("browser_download_url", ""))
    algorithm, _, digest = str(packs[0].get("digest") or "").partition(":")
    return _place(url, digest if algorithm == "sha256" else _listed_sum(url))


def _artifact(host: str, name: str, tag: str) -> Place:
    scheme = "http" if host.rsplit(":", 1)[0] in _LOCAL else "https"
    base = f"{scheme}://{host}/v2/{name}"
    url = f"{base}/manifests/{tag}"
    headers = {"Accept": _MANIFEST} | _token(url)
    layers = _object(fetch_text(url, headers), f"{host}/{name}:{tag}").get("layers")
    packs = [
        layer for layer in dicts(layers)
        for about in dicts([layer.get("annotations")])
        if str(about.get(_TITLE, "")).endswith(SUFFIX)
    ]  # fmt: skip
    if len(packs) != 1:
        raise LorepackError(
            f"oci://{host}/{name}:{tag} holds {len(packs)} packs", "give another tag"
        )
    algorithm, _, digest = str(packs[0].get("digest", "")).partition(":")
    if algorithm != "sha256" or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise LorepackError(f"oci://{host}/{name}:{tag} has no SHA-256", "publish it anew")
    del headers["Accept"]
    return Place(f"{base}/blobs/sha256:{digest}", digest, headers)


def _token(url: str) -> dict[str, str]:
    """Return the header that a registry asks for, by the token that it gives to anybody."""
    try:
        asked = httpx.get(url, headers={"Accept": _MANIFEST}, timeout=30)
        challenge = asked.headers.get("WWW-Authenticate", "")
        if asked.status_code != 401 or not challenge.startswith("Bearer "):
            return {}
        facts = dict(_CHALLENGE.findall(challenge))
        realm = facts.pop("realm", "")
        if urlsplit(realm).scheme not in ("http", "https"):
            return {}
        answer = httpx.get(realm, params=facts, timeout=30).json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise LorepackError(f"{url} cannot be asked ({error})", "check the address") from error
    token = answer.get("token") or answer.get("access_token") if isinstance(answer, dict) else ""
    return {"Authorization": f"Bearer {token}"} if token else {}


def _object(text: str, what: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text else None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise LorepackError(f"there is no {what}", "check name and tag")
    return data
