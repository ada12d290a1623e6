"""What is installed beside Lorepack: locked, by hash, and under licences that let it be used."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.licences import licences, locked
from tests.conftest import ROOT

_PERMISSIVE = re.compile(
    r"(?:MIT|Apache|BSD|0BSD|PSF|ISC|Zlib|CC0|MPL|Mozilla Public License|Python Software|Unlicense)",
    re.I,
)
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _asked(extra: str) -> list[Requirement]:
    """What a lock must satisfy: the base, and an extra with the extras that it is made of."""
    found: list[Requirement] = [Requirement(text) for text in _PROJECT["dependencies"]]
    for text in _PROJECT["optional-dependencies"].get(extra, ()):
        need = Requirement(text)
        found += [one for name in sorted(need.extras) for one in _asked(name)]
        found += [] if need.name == "lorepack" else [need]
    return found


@pytest.mark.parametrize("name", ["base", "build", "dev"])
def test_a_lock_has_all_that_is_asked_for(name: str) -> None:
    known: dict[str, list[str]] = {}
    for need in locked(name):
        (version,) = need.specifier
        known.setdefault(canonicalize_name(need.name), []).append(version.version)
    for need in _asked(name):
        versions = known[canonicalize_name(need.name)]
        assert all(need.specifier.contains(version) for version in versions), need


@pytest.mark.parametrize("name", ["base", "build", "dev"])
def test_every_entry_of_a_lock_has_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / "locks" / f"{name}.txt").read_text().strip())
    assert entries and all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"https?://", "".join(entries))


def test_the_locks_agree() -> None:
    dev = {str(need) for need in locked("dev")}
    names = {need.name for need in locked("build")}
    assert {need.name for need in locked("base")} < names < {need.name for need in locked("dev")}
    different = [str(need) for need in locked("build") if str(need) not in dev]
    assert all("python" in one for one in different), different


def test_licences_are_listed_and_let_it_be_used() -> None:
    found = licences()
    text = (ROOT / "docs" / "licences.md").read_text()
    for name, licence in found.items():
        assert f"| {name} | {licence} |" in text
        assert _PERMISSIVE.search(licence) and not re.search(r"\bA?GPL|LGPL", licence), name
