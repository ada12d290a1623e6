"""Write ``docs/licences.md``: what the packages that Lorepack is built with are licensed under."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
_HEAD = """\
# Licences

Of all that `pip install 'lorepack[build]'` installs, as the packages themselves say
(`python docs/licences.py`, run by `make lock`; `tests/test_supply_chain.py` checks it).

| package | licence |
|---|---|
"""


def locked(name: str) -> list[Requirement]:
    """Return what a lock names, hashes aside."""
    lines = (ROOT / "locks" / f"{name}.txt").read_text().splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if not line.startswith((" ", "#"))]


def licence(package: str) -> str:
    """Return a package's licence: its SPDX expression, classifiers, or own words."""
    about = metadata(package)
    classifiers = [c for c in about.get_all("Classifier") or [] if c.startswith("License ::")]
    named = "; ".join(c.rpartition(" :: ")[2] for c in classifiers)
    own = (about.get("License") or "").partition("\n")[0]
    return about.get("License-Expression") or named or own


def licences() -> dict[str, str]:
    """Return the licences of the packages of the extra ``build`` that are installed here."""
    found = {}
    for need in locked("build"):
        try:
            found[need.name] = licence(need.name)
        except PackageNotFoundError:
            # Only other systems and versions of Python need it.
            continue
    return found


if __name__ == "__main__":
    rows = [f"| {name} | {text} |\n" for name, text in sorted(licences().items())]
    (ROOT / "docs" / "licences.md").write_text(_HEAD + "".join(rows), encoding="utf-8")
