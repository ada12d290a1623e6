"""``lorepack inspect``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lorepack.pack.inspect import Inspection, inspect_pack


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def inspect(pack: Path, as_json: bool) -> None:
    """Show what is in PACK: its facts, its sources, its tables by rows and bytes."""
    found = inspect_pack(pack)
    click.echo(json.dumps(found.as_dict(), ensure_ascii=False) if as_json else _readable(found))


def _readable(found: Inspection) -> str:
    lines = [f"{found.file}: {found.bytes:,} bytes"]
    for key, value in found.meta.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{key:<18}{shown}")
    lines.append("")
    for source in found.sources:
        about = ", ".join(filter(None, (source["kind"], source["origin"], source["revision"][:12],
                                        source["licence"])))  # fmt: skip
        size = f"{source['pages']} pages, {source['bytes']:,} bytes"
        lines.append(f"{source['name']}: {size}; {about}")
    lines += ["", f"{'table':<22}{'rows':>10}{'bytes':>14}"]
    lines += [f"{t.name:<22}{t.rows:>10,}{t.bytes:>14,}" for t in found.tables]
    return "\n".join(lines)
