"""``lorepack verify``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from lorepack.packfile.verify import verify_pack


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify(pack: Path, as_json: bool) -> None:
    """Check that PACK is whole: structure, references, index, vectors, digests."""
    checks = verify_pack(pack)
    sound = not any(check.problem for check in checks)
    if as_json:
        problems = {check.name: check.problem for check in checks}
        click.echo(json.dumps({"pack": str(pack), "sound": sound, "checks": problems}))
    else:
        for check in checks:
            click.echo(f"{check.name:<12}{check.problem or 'ok'}")
    sys.exit(0 if sound else 1)
