"""``lorepack collection``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lorepack_builder.collection import draw_documents, read_collection, write_collection


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--lang", "languages", multiple=True, help="Documents in this language only.")
@click.option("--mixed", is_flag=True, help="Each document in one language only, by chance.")
@click.option("--seed", default=0, show_default=True, help="Of the chance.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def collection(
    folder: Path, out: Path, languages: tuple[str, ...], mixed: bool, seed: int, as_json: bool
) -> None:
    """Write a judged collection in FOLDER (BEIR, XQuAD, Cranfield) to OUT, as pages and questions.

    Build OUT/recipe.toml, then give the pack and OUT to `lorepack eval`.
    """
    given = read_collection(folder)
    documents = draw_documents(given.documents, languages, mixed=mixed, seed=seed)
    written = write_collection(documents, given.questions, out)
    if as_json:
        click.echo(json.dumps({**written.__dict__, "recipe": str(written.recipe)}))
    else:
        click.echo(f"{written.recipe}: {written.documents} pages, {written.questions} questions")
