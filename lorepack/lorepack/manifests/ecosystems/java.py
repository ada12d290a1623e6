"""``pom.xml`` and ``build.gradle``; a build is read as text and never run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import Unreadable, child_text, read_text, read_toml, read_xml
from lorepack.util.untrusted import tables

MAX_PARENTS = 5
_PROPERTY = re.compile(r"\$\{([\w.-]+)\}")
_CONFIGURATION = (
    r"(?:api|implementation|compileOnly|runtimeOnly|testImplementation|testRuntimeOnly|compile"
    r"|testCompile|annotationProcessor|kapt|ksp|provided|debugImplementation|classpath)"
)
_GRADLE = re.compile(
    rf"\b{_CONFIGURATION}\s*\(?\s*(?:platform\s*\(\s*|enforcedPlatform\s*\(\s*)?"
    r"[\"']([\w.-]+):([\w.-]+)(?::([^\"':@]+))?[^\"']*[\"']"
)
_GRADLE_MAP = re.compile(
    rf"\b{_CONFIGURATION}\s*\(?\s*group\s*[:=]\s*[\"']([\w.-]+)[\"']\s*,\s*name\s*[:=]\s*"
    r"[\"']([\w.-]+)[\"'](?:\s*,\s*version\s*[:=]\s*[\"']([^\"']+)[\"'])?"
)
_CATALOG = re.compile(rf"\b{_CONFIGURATION}\s*\(?\s*(?:platform\s*\(\s*)?libs\.([\w.]+)")
_COMMENTS = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)


def pom(path: Path) -> Iterator[Wanted]:
    """Yield a module's dependencies, with versions from its parents and their management."""
    chain = _with_parents(path)
    properties: dict[str, str] = {}
    managed: dict[str, str] = {}
    for project in reversed(chain):
        properties |= _properties(project)
    for project in chain:
        for entry in project.iterfind("dependencyManagement/dependencies/dependency"):
            name = _filled(_name(entry), properties)
            managed.setdefault(name, _filled(child_text(entry, "version"), properties))
            if child_text(entry, "scope") == "import":
                # A bill of materials is itself something that the project builds on.
                yield Wanted("maven", name, managed[name])
    for entry in chain[0].iterfind("dependencies/dependency"):
        name = _filled(_name(entry), properties)
        version = _filled(child_text(entry, "version"), properties) or managed.get(name, "")
        if name.count(":") == 1 and "${" not in name:
            yield Wanted("maven", name, version)


def members(path: Path) -> list[str]:
    """Return the modules of a parent, as paths of their POMs."""
    found = [(e.text or "").strip() for e in read_xml(path).iterfind(".//modules/module")]
    return [name if name.endswith(".xml") else f"{name}/pom.xml" for name in found if name]


def gradle(path: Path) -> Iterator[Wanted]:
    """Yield the dependencies that a build file names in plain words."""
    text = _COMMENTS.sub("", read_text(path))
    for group, name, version in [*_GRADLE.findall(text), *_GRADLE_MAP.findall(text)]:
        shown = "" if "$" in version else version
        yield Wanted("maven", f"{group}:{name}", shown.strip())
    catalog = _catalog(path.parent)
    for alias in _CATALOG.findall(text):
        if found := catalog.get(alias.replace("_", ".").replace("-", ".")):
            yield found


def _catalog(folder: Path) -> dict[str, Wanted]:
    """Return the libraries of a version catalogue by their accessor."""
    for place in (folder, *list(folder.parents)[:8]):
        file = place / "gradle" / "libs.versions.toml"
        if not file.is_file():
            continue
        try:
            data = read_toml(file)
        except Unreadable:
            return {}
        versions = tables(data.get("versions"))
        found = {}
        for alias, value in tables(data.get("libraries")).items():
            facts = tables(value)
            named = value if isinstance(value, str) else facts.get("module", "")
            name = named or f"{facts.get('group', '')}:{facts.get('name', '')}"
            version = facts.get("version", "")
            if isinstance(version, dict):
                version = versions.get(version.get("ref", ""), "")
            parts = str(name).split(":")
            if len(parts) > 2:
                version = parts[2]
            accessor = re.sub(r"[-_]", ".", alias)
            if len(parts) > 1 and all(parts[:2]):
                shown = version if isinstance(version, str) else ""
                found[accessor] = Wanted("maven", ":".join(parts[:2]), shown)
        return found
    return {}


def _with_parents(path: Path) -> list[Element]:
    """Return a POM and those above it that lie in the same tree, nearest first."""
    chain = [read_xml(path)]
    folder = path.parent.resolve()
    while len(chain) <= MAX_PARENTS:
        parent = chain[-1].find("parent")
        if parent is None:
            break
        relative = child_text(parent, "relativePath") or "../pom.xml"
        above = path.parent / relative
        above = above / "pom.xml" if above.is_dir() else above
        # A parent lies above its modules, or beside them; nothing else is opened.
        place = above.resolve().parent
        if not above.is_file() or not (
            folder.is_relative_to(place) or place.is_relative_to(_common(folder))
        ):
            break
        try:
            chain.append(read_xml(above))
        except Unreadable:
            break
        path = above
    return chain


def _common(folder: Path) -> Path:
    """Return how far up parents may lie: the outermost folder that still has a POM."""
    while (folder.parent / "pom.xml").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def _properties(project: Element) -> dict[str, str]:
    found = {
        element.tag: (element.text or "").strip() for element in project.find("properties") or ()
    }
    version = child_text(project, "version") or child_text(project, "parent/version")
    group = child_text(project, "groupId") or child_text(project, "parent/groupId")
    return {"project.version": version, "project.groupId": group, "version": version, **found}


def _filled(text: str, properties: Mapping[str, str]) -> str:
    """Replace properties, which may name others; one that is unknown stays as written."""
    for _ in range(MAX_PARENTS):
        filled = _PROPERTY.sub(lambda match: properties.get(match[1]) or match[0], text)
        if filled == text or len(filled) > 1000:
            break
        text = filled
    return text


def _name(entry: Element) -> str:
    return f"{child_text(entry, 'groupId')}:{child_text(entry, 'artifactId')}"
