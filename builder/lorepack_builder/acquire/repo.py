"""A git repository as a source: by URL or path, at a commit, or as it lies in a checkout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lorepack_builder.acquire.folder import list_files
from lorepack_builder.acquire.git import fetch, find_commit, run_git
from lorepack_builder.acquire.git_objects import Entry, export, list_tree, submodule_urls
from lorepack_builder.acquire.ignore import ignore_rules
from lorepack_builder.acquire.revision import revision_of, web_address
from lorepack_builder.model import Finding, Source, SourceFile
from lorepack_builder.recipe import SourceSpec

Acquired = tuple[Source, list[SourceFile], list[Finding]]
_LFS = b"version https://git-lfs.github.com/spec/v1\n"
_MAX_MODULE_DEPTH = 3


def acquire_repo(spec: SourceSpec, scratch: Path, *, offline: bool) -> Acquired:
    """Return the source, its files and what was left out.

    Args:
        scratch: an empty folder for files that come out of the repository's objects.
        offline: whether nothing may be fetched.

    Raises:
        LorepackError: the repository, its ref or its subdir cannot be had.
    """
    source = Source(
        spec.name, spec.kind, spec.origin, spec.path, subdir=spec.subdir, licence=spec.licence,
        lang=spec.lang, layout="repo", code=spec.code,
    )  # fmt: skip
    if spec.url or spec.ref or _is_bare(spec.path):
        found = _from_objects(spec, source, scratch, offline)
    else:
        found = _from_checkout(spec, source)
    return _without_lfs_pointers(*found)


def _from_checkout(spec: SourceSpec, source: Source) -> Acquired:
    source = replace(source, root=spec.path / spec.subdir)
    files, findings = list_files(source, ignore_rules(spec), gitignore_from=spec.path)
    revision = revision_of(source.root, files)
    if revision:
        source = replace(source, revision=revision.commit, subdir=revision.subdir, web=revision.web)
    elif run_git(spec.path, "rev-parse", "--verify", "--quiet", "HEAD"):
        message = "differs from its commit, so that citations name none"
        remedy = "commit the changes, or give ref"
        findings.append(Finding("uncommitted", "warning", spec.name, 1, message, remedy))
    return source, [replace(file, source=source) for file in files], findings


def _from_objects(spec: SourceSpec, source: Source, scratch: Path, offline: bool) -> Acquired:
    partial = bool(spec.subdir or spec.include or spec.exclude)
    if spec.url:
        repo, commit = fetch(spec.url, spec.ref, partial=partial, offline=offline)
        remote = spec.url
    else:
        repo, commit = spec.path, find_commit(spec.path, spec.ref)
        remote = run_git(repo, "config", "--get", "remote.origin.url").decode("utf-8", "replace")
    source = replace(source, root=scratch, revision=commit, web=web_address(remote.strip()))
    ignored = ignore_rules(spec)
    entries = list_tree(repo, commit, spec.subdir)
    wanted = [e for e in entries if not (e.is_submodule or _left_out(e.path, ignored))]
    lazily = spec.url if spec.url and partial and not offline else ""
    problems = list(export(repo, wanted, scratch, url=lazily))
    modules = [entry for entry in entries if entry.is_submodule]
    if spec.submodules and spec.url and not offline:
        urls = submodule_urls(repo, commit, spec.url)
        for entry in modules:
            problems += _submodule(entry, urls, spec.subdir, scratch, ignored)
        modules = []
    findings = [
        Finding(
            "skipped-file",
            "warning",
            _shown(source, path),
            1,
            problem,
            "name the repository's URL, or fetch all of it",
        )
        for path, problem in problems
    ]
    findings += [
        Finding("submodule", "info", _shown(source, entry.path), 1, "is a submodule, and left out",
                "set submodules = true")
        for entry in modules
    ]  # fmt: skip
    files, odd = list_files(source, ignored)
    return source, files, findings + odd


def _submodule(
    entry: Entry, urls: dict[str, str], subdir: str, scratch: Path,
    ignored: Callable[[str], bool], depth: int = 1,
) -> list[tuple[str, str]]:  # fmt: skip
    """Write a submodule's files where it lies; return (path, problem) for what is not written."""
    url = urls.get(f"{subdir}/{entry.path}" if subdir else entry.path, "")
    if not url or depth > _MAX_MODULE_DEPTH:
        return [(entry.path, "is a submodule from elsewhere, or nested too deep")]
    repo, commit = fetch(url, entry.id, partial=False)
    inner = [
        replace(e, path=f"{entry.path}/{e.path}")
        for e in list_tree(repo, commit, "")
        if not _left_out(f"{entry.path}/{e.path}", ignored)
    ]
    problems = list(export(repo, [e for e in inner if not e.is_submodule], scratch))
    deeper = {f"{entry.path}/{p}": u for p, u in submodule_urls(repo, commit, url).items()}
    for module in inner:
        if module.is_submodule:
            problems += _submodule(module, deeper, "", scratch, ignored, depth + 1)
    return problems


def _left_out(path: str, ignored: Callable[[str], bool]) -> bool:
    parts = path.split("/")
    folders = ("/".join(parts[:end]) + "/" for end in range(1, len(parts)))
    return (
        any(part.startswith(".") for part in parts) or ignored(path) or any(map(ignored, folders))
    )


def _without_lfs_pointers(
    source: Source, files: list[SourceFile], findings: list[Finding]
) -> Acquired:
    kept = []
    for file in files:
        if _is_lfs_pointer(file.disk):
            message = "is a Git LFS pointer, its content is elsewhere"
            findings.append(Finding("lfs-pointer", "info", file.path, 1, message, "exclude it"))
        else:
            kept.append(file)
    return source, kept, findings


def _is_lfs_pointer(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_LFS)) == _LFS
    except OSError:
        return False


def _is_bare(path: Path) -> bool:
    return run_git(path, "rev-parse", "--is-bare-repository").strip() == b"true"


def _shown(source: Source, path: str) -> str:
    return f"{source.name}/{path}".encode("utf-8", "replace").decode()
