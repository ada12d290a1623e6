"""``lorepack verify``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from lorepack.errors import LorepackError
from lorepack.pack.signature import require_signature
from lorepack.pack.verify import Check, content_digest_of, verify_pack


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--key", help="A minisign public key, its file or its text: check PACK.minisig.")
@click.option("--digest", help="The content digest that it must have, as `build` printed it.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify(pack: Path, key: str | None, digest: str | None, as_json: bool) -> None:
    """Check that PACK is whole: file, schema, references, index, vectors, digests, signature."""
    checks = verify_pack(pack)
    if digest is not None:
        found = content_digest_of(pack)
        checks.append(Check("digest", "" if found == digest else f"is {found}"))
    if key is not None:
        checks.append(_signature(pack, key))
    sound = not any(check.problem for check in checks)
    if as_json:
        problems = {check.name: check.problem for check in checks}
        click.echo(json.dumps({"pack": str(pack), "sound": sound, "checks": problems}))
    else:
        for check in checks:
            click.echo(f"{check.name:<12}{check.problem or 'ok'}")
    sys.exit(0 if sound else 1)


def _signature(pack: Path, key: str) -> Check:
    try:
        require_signature(pack, key)
    except LorepackError as error:
        return Check("signature", str(error))
    return Check("signature", "")
