"""``lorepack search``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lorepack.text.invisible import without_hidden
from lorepack_server.cli.rerank import RERANK, reranker_for
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.search import Answer, find_chunks


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("question")
@click.option("-k", "--limit", default=8, show_default=True, type=click.IntRange(1, 50))
@RERANK
@click.option("--json", "as_json", is_flag=True, help="Print every rank and score as JSON.")
def search(pack: Path, question: str, limit: int, rerank: int, as_json: bool) -> None:
    """Answer QUESTION from PACK by words and meaning.

    "A phrase" in quotes must occur; source:, path:, tag:, category:, lifecycle: and lang: filter.
    """
    mount = mount_pack(pack)
    answer = find_chunks(mount, question, limit=limit, reranker=reranker_for(rerank))
    if as_json:
        data = {
            "pack": mount.name,
            "version": mount.version,
            "status": answer.status,
            "degraded": answer.degraded,
            "hint": answer.hint,
            "results": [result.as_dict() for result in answer.results],
        }
        click.echo(json.dumps(data))
    else:
        click.echo(without_hidden(_readable(answer)))


def _readable(answer: Answer) -> str:
    lines = [f"degraded: {answer.degraded}"] if answer.degraded else []
    if not answer.results:
        lines.append(answer.hint or "nothing found")
    for number, result in enumerate(answer.results, 1):
        place = " > ".join((result.title, *result.headings))
        ranks = f"words {result.bm25_rank or '-'}, meaning {result.vector_rank or '-'}"
        excerpt = " ".join(result.text.split())[:160]
        lines.append(
            f"{number}. {place}\n   {result.path}:{result.lines[0]} ({ranks})\n   {excerpt}"
        )
    return "\n".join(lines)
