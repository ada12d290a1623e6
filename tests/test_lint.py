"""Lint: what each rule finds, what recipes and pages may change, and the forms of the report."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.pack.rules import RULES, SEVERITIES
from lorepack_builder.recipe import read_recipe
from tests.conftest import LOREPACK, ROOT, Built, write_files, write_recipe

Build = Callable[..., Built]


def found(built: Built, path: str | None = None) -> list[tuple[str, int]]:
    """Rule and line of each finding, of one page or all."""
    return [(f.rule, f.line) for f in built.findings if path in (None, f.path.removeprefix("v/"))]


PAGES: dict[str, tuple[str, list[tuple[str, int]]]] = {
    # page: its text, and what is found in it
    "Index.md": (
        "[[Self]] [[Old]] [[Twin]] [[sub/twin2]] [[Long]] [[Big]] [[Empty]] [[Dates]] [[Life]] "
        "[[Tags]] [[Broken]] [[Stale]] [[Fresh]]",
        [("archived-target", 1)],
    ),
    "Self.md": ("Text.\n\nSee [[Self]] and [[Self#Part]].\n\n## Part\n", [("self-link", 3)]),
    "Old.md": ("---\nlifecycle: archived\nupdated: 2020-01-01\n---\ngone\n", []),
    "Twin.md": ("---\ntitle: One name\n---\na\n", [("duplicate-title", 1)]),
    "sub/twin2.md": ("---\ntitle: ONE NAME\n---\nb\n", [("duplicate-title", 1)]),
    "Long.md": (f"---\nx: 1\nsummary: {'word ' * 60}\n---\nText.\n", [("long-summary", 3)]),
    "Big.md": ("text " * 120_000, [("oversize-page", 1)]),
    "Empty.md": ("", [("empty-page", 1)]),
    "Dates.md": ("---\ncreated: soon\ndate: 2026-02-30\n---\nText.\n",
                 [("bad-date", 2), ("bad-date", 3)]),
    "Life.md": ("---\nlifecycle: retired\n---\nText.\n", [("unknown-lifecycle", 2)]),
    "Tags.md": ("---\ntags: [fine, '2024']\n---\nText.\n", [("bad-tag", 2)]),
    "Broken.md": ("![[lost.png]]\n\n[[nowhere]]\n\n[[Self#Gone]]\n\n![[Lost note]]\n",
                  [("missing-attachment", 1), ("broken-link", 3), ("missing-anchor", 5),
                   ("broken-link", 7)]),
    "Stale.md": ("---\nupdated: 2026-01-01\n---\nText.\n", [("stale-page", 1)]),
    "Fresh.md": ("---\nupdated: 2026/05/01\n---\nText.\n", []),
    "Alone.md": ("Nobody links here. [[Index]]\n", [("orphan", 1)]),
}  # fmt: skip


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Built:
    from lorepack_builder.build import build_pack

    folder = tmp_path_factory.mktemp("lint")
    vault = write_files(folder / "vault", {name: text for name, (text, _) in PAGES.items()})
    return Built(*build_pack(read_recipe(write_recipe(folder, vault)), folder / "out"))


@pytest.mark.parametrize("path", PAGES)
def test_each_rule_finds_its_own(linted: Built, path: str) -> None:
    assert found(linted, path) == PAGES[path][1]


def test_every_finding_names_rule_severity_place_and_remedy(linted: Built) -> None:
    for finding in linted.findings:
        assert finding.severity == RULES[finding.rule].severity
        assert finding.message and finding.fix and finding.line >= 1 and finding.path


def test_every_rule_in_the_code_is_documented() -> None:
    texts = [path.read_text() for path in (ROOT / "builder").rglob("*.py")]
    used = {rule for text in texts for rule in re.findall(r'[Ff]inding\(\s*"([a-z-]+)"', text)}
    assert len(used) > 20 and used <= set(RULES)
    assert list(RULES) == sorted(RULES)


def test_a_recipe_sets_severities_and_limits(build: Build) -> None:
    pages = {"A.md": "[[A]] [[Gone]]", "B.md": "---\nupdated: 2026-01-01\n---\n[[A]] " + "x" * 2000}
    extra = (
        '[lint]\nrules = { self-link = "error", broken-link = "off", orphan = "warning" }\n'
        "page_kilobytes = 1\nstale_days = 10\n"
    )
    built = build(pages, extra=extra)
    assert {(f.rule, f.severity) for f in built.findings} == {
        ("self-link", "error"), ("orphan", "warning"), ("oversize-page", "warning"),
    }  # fmt: skip


def test_strict_counts_severities_as_the_recipe_sets_them(build: Build, tmp_path: Path) -> None:
    built = build({"A.md": "[[Gone]]"}, extra='[lint]\nrules = { broken-link = "info" }\n')
    strict = ["build", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "strict"), "--strict"]
    assert CliRunner().invoke(cli, strict).exit_code == 0
    assert built.findings[0].severity == "info"


@pytest.mark.parametrize(
    "ignore", ["lint_ignore: [broken-link, self-link]", "lint_ignore: broken-link, self-link",
               "lint_ignore: all"],
)  # fmt: skip
def test_a_page_leaves_rules_out(build: Build, ignore: str) -> None:
    built = build({"Home.md": f"---\n{ignore}\n---\n[[Home]] [[Gone]]", "index.md": "[[Gone]]"})
    assert found(built) == [("broken-link", 1)]


@pytest.mark.parametrize(
    ("table", "word"),
    [('rules = { orfan = "off" }', "orphan"), ('rules = { orphan = "loud" }', "warning"),
     ("stale_days = 0", "1 or more"), ("stale_days = true", "whole number"),
     ("stale = 3", "stale_days")],
)  # fmt: skip
def test_wrong_settings_are_one_clear_error(tmp_path: Path, table: str, word: str) -> None:
    recipe = write_recipe(tmp_path, write_files(tmp_path / "v", {}), extra=f"[lint]\n{table}\n")
    with pytest.raises(LorepackError, match="line 10") as wrong:
        read_recipe(recipe)
    assert word in str(wrong.value)


def test_the_packs_own_day_decides_what_is_stale(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"Home.md": "---\nupdated: 2026-01-01\n---\nText."}
    assert found(build(pages)) == []
    assert found(build(pages, extra="", version="2.0.0")) == []
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1798761600")  # 2027-01-01
    assert found(build(pages)) == [("stale-page", 1)]


def test_a_recipes_day_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lorepack_builder.build import build_pack

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1798761600")
    vault = write_files(tmp_path / "v", {"Home.md": "---\nupdated: 2026-01-01\n---\nText."})
    recipe = write_recipe(tmp_path, vault)
    recipe.write_text(recipe.read_text().replace("[[source]]", "date = 2026-02-01\n[[source]]", 1))
    built = Built(*build_pack(read_recipe(recipe), tmp_path / "out"))
    assert found(built) == [] and built.mount().day == "2026-02-01"


@pytest.mark.parametrize("level", SEVERITIES)
def test_the_command_prints_what_the_tool_says(linted: Built, level: str) -> None:
    from lorepack_server.tools.answer import Context
    from lorepack_server.tools.wiki_lint import SPEC

    done = CliRunner().invoke(cli, ["lint", str(linted.path), "--level", level])
    said = SPEC.call(Context(linted.mount()), {"level": level, "maxTokens": 100_000}).text
    assert done.exit_code == 0
    assert done.output.splitlines() in (said.splitlines()[1:], ["nothing found"])


def test_fail_on_decides_the_exit_code(linted: Built) -> None:
    def code(*options: str) -> int:
        return CliRunner().invoke(cli, ["lint", str(linted.path), *options]).exit_code

    assert [code(), code("--fail-on", "warning"), code("--fail-on", "error")] == [0, 1, 0]
    assert code("v/Fresh.md", "--fail-on", "warning") == 0
    # What is shown and what fails are apart.
    assert code("--fail-on", "warning", "--level", "error") == 1


def report(pack: Path, *options: str) -> str:
    done = subprocess.run(
        [str(LOREPACK), "lint", str(pack), *options], capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_sarif_is_what_github_reads(linted: Built) -> None:
    log = json.loads(report(linted.path, "--format", "sarif", "--root", "v=docs/vault"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(linted.findings)
    for result, finding in zip(
        run["results"], json.loads(report(linted.path, "--format", "json"))["findings"], strict=True
    ):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["rule"]
        assert result["level"] in ("error", "warning", "note")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].startswith("docs/vault/")
        assert place["region"]["startLine"] == finding["line"]
    prints = [result["partialFingerprints"]["finding/v1"] for result in run["results"]]
    assert len(prints) == len(set(prints))


def test_sarif_fits_its_schema(linted: Built) -> None:
    """The parts of the official schema that every log must have (OASIS, SARIF 2.1.0)."""
    from jsonschema import Draft7Validator

    text = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    location = {
        "type": "object",
        "properties": {"physicalLocation": {"type": "object", "properties": {
            "artifactLocation": {"properties": {"uri": {"type": "string", "format": "uri-reference",
                                                        "pattern": "^[^ \\\\]+$"}}},
            "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}},
        }, "required": ["artifactLocation"]}},
    }  # fmt: skip
    result = {
        "type": "object", "required": ["message"], "properties": {
            "message": text, "ruleIndex": {"type": "integer", "minimum": 0},
            "level": {"enum": ["none", "note", "warning", "error"]},
            "locations": {"type": "array", "items": location},
            "partialFingerprints": {"additionalProperties": {"type": "string"}},
        },
    }  # fmt: skip
    schema = {
        "type": "object", "required": ["version", "runs"], "properties": {
            "version": {"const": "2.1.0"},
            "runs": {"type": "array", "items": {"type": "object", "required": ["tool"],
                     "properties": {"results": {"type": "array", "items": result}}}},
        },
    }  # fmt: skip
    Draft7Validator(schema).validate(json.loads(report(linted.path, "--format", "sarif")))


def test_junit_counts_tests_and_failures(linted: Built) -> None:
    suites = ElementTree.fromstring(
        report(linted.path, "--format", "junit", "--fail-on", "warning")
    )
    cases = suites.findall("./testsuite/testcase")
    failures = suites.findall("./testsuite/testcase/failure")
    serious = [f for f in linted.findings if f.severity != "info"]
    assert (len(cases), len(failures)) == (len(linted.findings), len(serious))
    assert suites.get("tests") == str(len(cases)) and suites.get("failures") == str(len(failures))


def test_a_report_survives_what_xml_cannot_hold(build: Build) -> None:
    built = build({"A\x07.md": "[[go\x0bne \ufffe]]", "B.md": "[[<&>]]"})
    ElementTree.fromstring(report(built.path, "--format", "junit", "--fail-on", "warning"))
    json.loads(report(built.path, "--format", "sarif"))


def test_a_root_that_is_none_is_an_error(linted: Built) -> None:
    done = subprocess.run(
        [str(LOREPACK), "lint", str(linted.path), "--format", "sarif", "--root", "nope=x"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "the sources are v" in done.stderr


def test_orphans_are_told_only_where_pages_link(build: Build) -> None:
    assert found(build({"A.md": "text", "B.md": "text"})) == []
    linked: dict[str, Any] = {"Home.md": "[[A]]", "A.md": "text", "B.md": "text"}
    assert found(build(linked)) == [("orphan", 1)]
