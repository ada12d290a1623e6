"""``lorepack lint``, ``links``, ``tags``, ``synthesize``, ``memory``, ``hot`` and ``status``.

Each asks the tool that agents ask, and prints its answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from lorepack.pack.rules import SEVERITIES, as_severe_as
from lorepack_server.packs.mount import Mount, mount_pack
from lorepack_server.report.hot import hot_markdown
from lorepack_server.report.junit import junit_xml
from lorepack_server.report.sarif import sarif_log
from lorepack_server.report.sources import source_roots
from lorepack_server.tools import (
    cross_linker,
    daily_update,
    memory_bridge,
    tag_taxonomy,
    wiki_lint,
    wiki_status,
    wiki_synthesize,
)
from lorepack_server.tools.answer import Context, ToolSpec, without_invisible
from lorepack_server.tools.arguments import ArgumentsError, read_arguments, without_limits

_PACK = click.argument("pack", type=click.Path(path_type=Path))
_PATH = click.argument("path", default="")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


def _print(mount: Mount, spec: ToolSpec, as_json: bool, **arguments: Any) -> None:
    """Print what a tool answers; an error is one line and exit code 2."""
    given = {name: value for name, value in arguments.items() if value not in ("", (), None)}
    try:
        read, _ = read_arguments(spec.arguments, given)
    except ArgumentsError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    # An agent's answer is cut to a screen; a person's only where it is said.
    whole = read if "maxTokens" in given else without_limits(read)
    answer = without_invisible(spec.run(Context(mount), whole))
    if answer.is_error:
        click.echo(f"lorepack: {answer.data['error']['message']}", err=True)
        sys.exit(2)
    click.echo(json.dumps(dict(answer.data), ensure_ascii=False) if as_json else answer.text)


@click.command()
@_PACK
@_PATH
@click.option(
    "--level",
    type=click.Choice(SEVERITIES),
    default="info",
    show_default=True,
    help="The least severe finding to show.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "junit"]),
    default="text",
    show_default=True,
    help="SARIF and JUnit are for CI.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    help="Exit with 1 if there is a finding as severe, or more.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="SOURCE=DIR",
    help="Where a source lies in its repository, for SARIF; else as the pack says.",
)
def lint(
    pack: Path, path: str, level: str, form: str, fail_on: str | None, roots: Sequence[str]
) -> None:
    """Show what the build noticed in PACK, or below PATH in it."""
    mount = mount_pack(pack)
    findings = wiki_lint.read_findings(mount, path, level)
    click.echo(_FORMS[form](mount, findings, fail_on or "error", roots), nl=False)
    failing = as_severe_as(fail_on) if fail_on else ()
    every = wiki_lint.read_findings(mount, path)
    sys.exit(any(finding["severity"] in failing for finding in every))


def _text(mount: Mount, findings: list[wiki_lint.Finding], *_: object) -> str:
    lines = [wiki_lint.finding_line(finding) for finding in findings]
    return "".join(f"{line}\n" for line in lines or ["nothing found"])


def _json(mount: Mount, findings: list[wiki_lint.Finding], *_: object) -> str:
    data = {"pack": mount.name, "version": mount.version, "findings": findings}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _sarif(
    mount: Mount, findings: list[wiki_lint.Finding], fail_on: str, roots: Sequence[str]
) -> str:
    return json.dumps(sarif_log(findings, source_roots(mount, roots)), ensure_ascii=False) + "\n"


def _junit(mount: Mount, findings: list[wiki_lint.Finding], fail_on: str, *_: object) -> str:
    return junit_xml(findings, f"{mount.name} {mount.version}", fail_on)


_FORMS: dict[str, Callable[..., str]] = {
    "text": _text, "json": _json, "sarif": _sarif, "junit": _junit,
}  # fmt: skip


@click.command()
@_PACK
@_PATH
@click.option("--patch", is_flag=True, help="Print only the patch, for `git apply` or `patch -p1`.")
@_JSON
def links(pack: Path, path: str, patch: bool, as_json: bool) -> None:
    """Show links that pages of PACK could have, or those of PATH in it."""
    mount = mount_pack(pack)
    if patch:
        found = cross_linker.read_suggestions(mount.connection(), path.strip("/"))
        click.echo(cross_linker.patch_of(mount.connection(), found))
    else:
        _print(mount, cross_linker.SPEC, as_json, path=path)


@click.command()
@_PACK
@_PATH
@click.option("--enforce", metavar="PAGE", help="Show tags that this page does not list.")
@_JSON
def tags(pack: Path, path: str, enforce: str | None, as_json: bool) -> None:
    """Show the tags of PACK, or those below PATH, and which should be others."""
    _print(mount_pack(pack), tag_taxonomy.SPEC, as_json, path=path, enforce=enforce)


@click.command()
@_PACK
@click.argument("concepts", nargs=-1)
@click.option(
    "--threshold",
    default=2,
    show_default=True,
    type=click.IntRange(1, 8),
    help="Concepts that a passage must hold.",
)
@click.option("--max-tokens", default=4000, show_default=True, type=click.IntRange(50))
@_JSON
def synthesize(
    pack: Path, concepts: tuple[str, ...], threshold: int, max_tokens: int, as_json: bool
) -> None:
    """Gather passages of PACK that hold several CONCEPTS; without any, list what lacks a page."""
    if len(concepts) == 1:
        raise click.UsageError("give two concepts or more, or none")
    _print(
        mount_pack(pack), wiki_synthesize.SPEC, as_json, concepts=concepts, threshold=threshold,
        maxTokens=max_tokens,
    )  # fmt: skip


@click.command()
@_PACK
@click.option("--tool", help="Pages that this tool wrote.")
@click.option("--dates", metavar="FROM..TO", help="Days, open at either end.")
@click.option("--query", help="Nearest to this first.")
@click.option("--compare", metavar="TOOL", help="Another tool: what both say about --query.")
@_JSON
def memory(
    pack: Path, tool: str | None, dates: str | None, query: str | None, compare: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Show what AI tools wrote in PACK."""
    _print(
        mount_pack(pack), memory_bridge.SPEC, as_json, tool=tool, dates=dates, query=query,
        compareWith=compare,
    )  # fmt: skip


@click.command()
@_PACK
@click.option("--since", metavar="DAY", help="Count from this day; else the pack's last week.")
@click.option("--write", type=click.Path(path_type=Path), help="Write it as a page, hot.md.")
@_JSON
def hot(pack: Path, since: str | None, write: Path | None, as_json: bool) -> None:
    """Show what is new and changed in PACK."""
    mount = mount_pack(pack)
    if write is None:
        _print(mount, daily_update.SPEC, as_json, since=since)
        return
    write.write_text(hot_markdown(mount, since), encoding="utf-8")
    click.echo(str(write), err=True)


@click.command()
@_PACK
@_JSON
def status(pack: Path, as_json: bool) -> None:
    """Show what PACK holds, and what waits to be done."""
    _print(mount_pack(pack), wiki_status.SPEC, as_json)
