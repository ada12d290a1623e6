"""The open-source CodeWiki's ``module_tree.json``: modules, their components and children."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lorepack_builder.model import Finding, Mention, Source, SourceFile

_MAX_DEPTH = 30
_OVERVIEW = "overview.md"


def module_tree(
    source: Source, tree: Mapping[str, Any], files: list[SourceFile]
) -> tuple[list[SourceFile], list[Finding]]:
    """Return ``files``, each page with its module's components and children.

    Findings name modules without a page, and pages without a module.
    """
    pages = {
        _key(posixpath.basename(file.path)): file for file in files if file.path.endswith(".md")
    }
    mentions: defaultdict[str, list[Mention]] = defaultdict(list)
    related: defaultdict[str, list[str]] = defaultdict(list)
    findings: list[Finding] = []
    seen = {_key(_OVERVIEW)}
    for parent, name, components in _modules(tree, "", 0):
        page = pages.get(_key(f"{name}.md"))
        seen.add(_key(f"{name}.md"))
        above = pages.get(_key(f"{parent}.md" if parent else _OVERVIEW))
        if page is None:
            message = f"the module {name!r} has no page"
            findings.append(
                Finding("lost-module", "warning", f"{source.name}/module_tree.json", 1, message,
                        "make the wiki anew")
            )  # fmt: skip
            continue
        mentions[page.path] += [Mention(id, 1, certain=True) for id in components]
        if above is not None and above is not page:
            related[above.path].append(page.path)
    for key, page in pages.items():
        if key not in seen:
            message = "is in no module of module_tree.json"
            findings.append(Finding("no-module", "info", page.path, 1, message))
    return [
        replace(
            file,
            mentions=tuple(dict.fromkeys(mentions[file.path])),
            related=tuple(dict.fromkeys(related[file.path])),
        )
        for file in files
    ], findings


def _modules(
    tree: Mapping[str, Any], parent: str, depth: int
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (parent, name, component ids) of all modules."""
    for name, module in tree.items():
        if not isinstance(module, dict) or depth > _MAX_DEPTH:
            continue
        components = module.get("components")
        ids = [str(id) for id in components] if isinstance(components, list) else []
        yield parent, name, ids
        children = module.get("children")
        if isinstance(children, dict):
            yield from _modules(children, name, depth + 1)


def _key(name: str) -> str:
    """Module names are written with spaces, ``_`` or ``-`` alike."""
    return name.casefold().replace(" ", "_").replace("-", "_")
