"""``lorepack build``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from lorepack_builder.build import build_pack, build_site
from lorepack_builder.cli.progress import stage_progress
from lorepack_builder.engine import Engine
from lorepack_builder.engine.choose import ENGINES, open_engine
from lorepack_builder.model import Finding
from lorepack_builder.recipe import Recipe, read_recipe, with_version
from lorepack_builder.result import Summary
from lorepack_builder.watch import watch_recipe


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True,
              help="Folder for the pack.")  # fmt: skip
@click.option("--pack-version", help="The pack's version, in place of the recipe's.")
@click.option("--strict", is_flag=True, help="Fail on any finding that is an error or a warning.")
@click.option("--no-site", is_flag=True, help="Leave the site out of the pack.")
@click.option("--site-only", is_flag=True, help="Write the site to a folder, and no pack.")
@click.option("--previous", type=click.Path(path_type=Path),
              help="Pack to compare with, or none; else the version before in --out.")  # fmt: skip
@click.option("--offline", is_flag=True, help="Fetch nothing; use what earlier builds fetched.")
@click.option("--force", is_flag=True, help="Build even what did not change.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="Where it is parsed, embedded and rendered; dask needs the extra dask.",
)
@click.option("--scheduler", default="", help="Dask's, tcp://host:port; else one starts here.")
@click.option(
    "--workers",
    type=click.IntRange(0),
    default=0,
    help="Dask's workers to start here; else one a core.",
)
@click.option(
    "--worker-memory",
    default="auto",
    show_default=True,
    help="What each may use, 2GiB; one that needs more is started anew.",
)
@click.option("--watch", is_flag=True, help="Build again whenever a source or RECIPE changes.")
@click.option("--json", "as_json", is_flag=True, help="Print summary and findings as JSON.")
def build(
    recipe: Path, out: Path, pack_version: str | None, strict: bool, no_site: bool,
    site_only: bool, previous: Path | None, offline: bool, force: bool, engine: str,
    scheduler: str, workers: int, worker_memory: str, watch: bool, as_json: bool,
) -> None:  # fmt: skip
    """Compile RECIPE (packs/NAME.toml) into a pack."""
    if no_site and site_only:
        raise click.UsageError("--no-site and --site-only leave nothing to build")
    make = build_site if site_only else partial(build_pack, site=not no_site, force=force)

    def build_once(read: Recipe, where: Engine) -> None:
        versioned = with_version(read, pack_version) if pack_version else read
        with stage_progress(quiet=as_json) as progress:
            summary, findings = make(
                versioned, out, strict=strict, previous=previous, offline=offline,
                progress=progress, engine=where,
            )  # fmt: skip
        if as_json:
            rows = [finding.__dict__ for finding in findings]
            click.echo(json.dumps({**summary.as_dict(), "reports": rows}))
        else:
            click.echo(_readable(summary, findings))

    with open_engine(engine, scheduler, workers, worker_memory) as where:
        if watch:
            watch_recipe(
                recipe, out, lambda read: build_once(read, where),
                lambda error: click.echo(f"lorepack: {error}", err=True),
            )  # fmt: skip
        else:
            build_once(read_recipe(recipe), where)


def _readable(summary: Summary, findings: list[Finding]) -> str:
    if summary.unchanged:
        return f"unchanged   {summary.pack}\ndigest      {summary.digest}"
    lines = [f"{f.path}:{f.line}: {f.severity}: {f.message} [{f.rule}]" for f in findings
             if f.severity != "info"][:20]  # fmt: skip
    hidden = sum(f.severity != "info" for f in findings) - len(lines)
    if hidden > 0:
        lines.append(f"… and {hidden} more; --json prints all")
    rules = ", ".join(f"{count} {rule}" for rule, count in summary.findings.items()) or "none"
    seconds = ", ".join(f"{name} {value:.2f}" for name, value in summary.seconds.items())
    return "\n".join(
        [
            *lines,
            f"pack        {summary.pack}",
            f"pages       {summary.pages} ({summary.left_out} left out, {summary.parsed} parsed)",
            f"chunks      {summary.chunks} ({summary.embedded} embedded, {summary.reused} known)",
            f"edges       {summary.edges} ({summary.unresolved} unresolved links)",
            f"findings    {rules}",
            f"seconds     {seconds}",
            f"bytes       {summary.bytes:,}",
            f"digest      {summary.digest}",
        ]
    )
