"""Findings as JUnit XML: a test suite a page, a failure a finding that counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lorepack.pack.rules import as_severe_as
from lorepack.text.xml import xml_text
from lorepack_server.tools.wiki_lint import Finding, finding_line


def junit_xml(findings: Sequence[Finding], pack: str, fail_on: str) -> str:
    """Return the report.

    Args:
        fail_on: the least severity of a finding that is a failure; others are passed tests.
    """
    failing = as_severe_as(fail_on)
    suites = Element("testsuites", name=f"lorepack lint {pack}")
    total = 0
    for path, own in groupby(sorted(findings, key=_place), key=lambda f: str(f["path"])):
        found = list(own)
        failures = sum(finding["severity"] in failing for finding in found)
        total += failures
        suite = SubElement(
            suites, "testsuite", name=xml_text(path), tests=str(len(found)), failures=str(failures)
        )
        for finding in found:
            _case(suite, finding, finding["severity"] in failing)
    suites.set("tests", str(len(findings)))
    suites.set("failures", str(total))
    indent(suites)
    return tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _place(finding: Finding) -> tuple[str, int, str]:
    return finding["path"], finding["line"], finding["rule"]


def _case(suite: Element, finding: Finding, failed: bool) -> None:
    name = f"{finding['rule']}, line {finding['line']}: {finding['message']}"
    path = xml_text(finding["path"])
    case = SubElement(
        suite, "testcase", name=xml_text(name), classname=path, file=path, line=str(finding["line"])
    )
    if failed:
        failure = SubElement(
            case, "failure", type=finding["severity"], message=xml_text(finding["message"])
        )
        failure.text = xml_text(finding_line(finding))
