"""``lorepack export``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TextIO

import click

from lorepack.errors import LorepackError
from lorepack.pack.export import WRITERS, read_graph
from lorepack.pack.open import open_pack


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option(
    "--graph",
    "form",
    type=click.Choice(list(WRITERS)),
    default="graphml",
    show_default=True,
    help="The form: for Gephi and yEd, for d3, or for Neo4j.",
)
@click.option("--kind", "kinds", multiple=True, help="Nodes to take (page, tag, …); else all.")
@click.option(
    "-o",
    "--output",
    type=click.File("w", encoding="utf-8", atomic=True),
    default="-",
    help="The file to write; else stdout.",
)
def export(pack: Path, form: str, kinds: tuple[str, ...], output: TextIO) -> None:
    """Write the graph of PACK: pages, tags, symbols, diagrams, and what links them."""
    with closing(open_pack(pack)) as opened:
        try:
            graph = read_graph(opened, kinds)
        except ValueError as error:
            raise LorepackError(str(error), "leave --kind out, or name one of these") from error
    WRITERS[form](graph, output)
