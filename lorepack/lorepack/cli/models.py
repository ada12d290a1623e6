"""``lorepack models``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from lorepack.models.convert import (
    damaged_files,
    install_model_folder,
    model_folder,
)
from lorepack.models.registry import (
    DEFAULT_MODEL,
    MODELS,
    RERANKER,
    ModelSpec,
    find_model,
)


@click.group()
def models() -> None:
    """List, fetch and verify embedding models."""


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the models as JSON.")
def list_models(as_json: bool) -> None:
    """List the known models."""
    if as_json:
        click.echo(json.dumps([spec.__dict__ for spec in (*MODELS.values(), RERANKER)]))
        return
    for spec in (*MODELS.values(), RERANKER):
        note = " (default)" if spec.id == DEFAULT_MODEL else ""
        note = " (reranks)" if spec is RERANKER else note
        click.echo(f"{spec.id}{note}: {spec.dims} dimensions, {spec.licence}, from {spec.package}")


@models.command()
@click.argument("name", default=DEFAULT_MODEL)
def fetch(name: str) -> None:
    """Make model NAME ready for use, a name or a model's own folder, and print where it is."""
    click.echo(model_folder(_find(name)))


@models.command()
@click.argument("name", default=DEFAULT_MODEL)
def verify(name: str) -> None:
    """Check the files of model NAME against their digests."""
    damaged = damaged_files(_find(name))
    for file in damaged:
        click.echo(f"{file} is damaged: remove {file.parent}", err=True)
    sys.exit(1 if damaged else 0)


def _find(name: str) -> ModelSpec:
    folder = Path(name).expanduser()
    if name == RERANKER.id:
        return RERANKER
    return install_model_folder(folder) if folder.is_dir() else find_model(name)
