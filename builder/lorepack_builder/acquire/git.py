"""Ask git, of repositories that are not trusted, and fetch them; none is ever checked out.

No filter, hook, monitor or program that a repository may configure is run, and none of its links
is written to disk. What is fetched goes to bare repositories in the user's cache.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lorepack.errors import LorepackError
from lorepack.models.convert import cache_dir
from lorepack_builder.recipe.addresses import without_credentials

_SAFE = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.sshCommand=ssh",
    "-c", "safe.directory=*", "-c", "gc.auto=0",
)  # fmt: skip
_REMOTE = "https:http:ssh:git:file"
_NOTHING = "none"
"""Protocols that git may use; of a local repository it fetches nothing."""
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_WHOLE_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SECONDS = 900


def fetch(url: str, ref: str, *, partial: bool, offline: bool = False) -> tuple[Path, str]:
    """Bring the commit that ``ref`` names, and nothing older, into the cache.

    Args:
        ref: a branch, tag or commit; '' is the main branch.
        partial: whether files come later, with `export`, and only those that are wanted.
        offline: whether what an earlier build fetched has to do.

    Returns:
        The bare repository, and the commit.

    Raises:
        LorepackError: the repository or ``ref`` cannot be fetched. No message holds credentials.
    """
    shown = without_credentials(url)
    key = hashlib.sha256(f"{shown}\0{partial}".encode()).hexdigest()[:16]
    mirror = cache_dir() / "repos" / f"{key}.git"
    name = f"refs/lorepack/{hashlib.sha256(ref.encode()).hexdigest()[:16]}"
    known = run_git(mirror, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if known and (offline or _WHOLE_COMMIT.fullmatch(ref)):
        return mirror, known.decode().strip()
    if offline:
        raise LorepackError(
            f"{shown}{_at(ref)} is not in the cache", "build once without --offline"
        )
    if not mirror.is_dir():
        mirror.parent.mkdir(parents=True, exist_ok=True)
        _checked(shown, mirror.parent, "init", "--quiet", "--bare", str(mirror))
    if partial:
        for setting in (("remote.origin.url", shown), ("remote.origin.promisor", "true"),
                        ("remote.origin.partialclonefilter", "blob:none"),
                        ("extensions.partialClone", "origin"),
                        ("core.repositoryFormatVersion", "1")):  # fmt: skip
            _checked(shown, mirror, "config", *setting)
    source = "origin" if partial else shown
    options = ["--quiet", "--no-tags", "--force", *(["--filter=blob:none"] if partial else [])]
    wanted = f"{ref or 'HEAD'}:{name}"
    environment = _credentials(url)
    try:
        _checked(shown, mirror, "fetch", *options, "--depth=1", source, wanted, env=environment)
    except LorepackError:
        # A short commit id, or a server that gives no commit by its id: look in all of them.
        if not _COMMIT.fullmatch(ref):
            raise
        _checked(shown, mirror, "fetch", *options, source, "+refs/*:refs/all/*", env=environment)
        found = _checked(shown, mirror, "rev-parse", "--verify", f"{ref}^{{commit}}")
        _checked(shown, mirror, "update-ref", name, found.decode().strip())
    commit = _checked(shown, mirror, "rev-parse", "--verify", f"{name}^{{commit}}")
    return mirror, commit.decode().strip()


def find_commit(repo: Path, ref: str) -> str:
    """Return the commit that ``ref`` names in a local repository; '' is HEAD.

    Raises:
        LorepackError: there is none.
    """
    for name in (ref, f"origin/{ref}") if ref else ("HEAD",):
        found = run_git(repo, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found:
            return found.decode().strip()
    raise LorepackError(f"{repo} has no commit {ref or 'HEAD'!r}", "correct ref, or commit first")


def run_git(repo: Path, *arguments: str) -> bytes:
    """Return what git prints of a repository that is not trusted; nothing if it fails."""
    done = _run(repo, arguments, _NOTHING, {}, b"") if repo.is_dir() else None
    return done.stdout if done and done.returncode == 0 else b""


def open_git(repo: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start git on a repository that is not trusted, to be asked and answer by pipes."""
    return subprocess.Popen(
        ["git", *_SAFE, "-C", str(repo), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(_NOTHING, {}),
    )


def fetch_objects(repo: Path, url: str, ids: Sequence[str]) -> None:
    """Fetch objects by id, all at once (git's own way of filling a partial clone).

    Raises:
        LorepackError: they cannot be fetched.
    """
    listed = "\n".join(dict.fromkeys(ids)) + "\n"
    arguments = (
        "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "origin", "--no-tags",
        "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin",
    )  # fmt: skip
    done = _run(repo, arguments, _REMOTE, _credentials(url), listed.encode())
    if done.returncode:
        raise _failure(without_credentials(url), done.stderr)


def _credentials(url: str) -> dict[str, str]:
    """Return the environment that gives git an address's user and password, in no argument."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return {}
    if parts.scheme not in ("http", "https") or not (parts.username or parts.password):
        return {}
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    header = f"Authorization: Basic {base64.b64encode(pair.encode()).decode()}"
    scope = f"http.{parts.scheme}://{parts.netloc.rpartition('@')[2]}/.extraHeader"
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": scope, "GIT_CONFIG_VALUE_0": header}


def _checked(
    shown: str, repo: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> bytes:
    done = _run(repo, arguments, _REMOTE, env or {}, b"")
    if done.returncode:
        raise _failure(shown, done.stderr)
    return done.stdout


def _failure(shown: str, stderr: bytes) -> LorepackError:
    said = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    reason = (
        re.sub(r"://[^/\s]*@", "://", said[-1].removeprefix("fatal: ")) if said else "git failed"
    )
    return LorepackError(
        f"{shown} cannot be fetched ({reason})", "check the address, ref and rights"
    )


def _run(
    repo: Path, arguments: Sequence[str], protocols: str, env: Mapping[str, str], stdin: bytes
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *_SAFE, "-C", str(repo), *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env=_environment(protocols, env),
            timeout=_SECONDS,
        )
    except FileNotFoundError as error:
        raise LorepackError("git is not installed", "install git") from error
    except subprocess.TimeoutExpired as error:
        raise LorepackError(f"git took longer than {_SECONDS} s", "try again") from error


def _environment(protocols: str, more: Mapping[str, str]) -> dict[str, str]:
    ours = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": protocols, "LC_ALL": "C"}
    return {**os.environ, **ours, **more}


def _at(ref: str) -> str:
    return f" at {ref!r}" if ref else ""
