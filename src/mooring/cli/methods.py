"""`mooring methods`, `mooring fusions` and `mooring show`: what there is, and what it is made of."""

from re import sub
from typing import Annotated

import typer

from mooring.cli.arguments import AsJson, print_json


def methods(json: AsJson = False) -> None:
    """List every method with one line about it."""
    from rich.table import Table
    from rich.text import Text

    from mooring.cli.terminal import Screen
    from mooring.methods import METHODS

    if json:
        rows = [{"method": name, "track": method.track, "about": method.about} for name, method in METHODS.items()]
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("method", style="bold", no_wrap=True)
    table.add_column("fusion", no_wrap=True)
    table.add_column("about")
    track = None
    for name, method in METHODS.items():
        if track not in (None, method.track):
            table.add_row()
            table.add_row(Text(method.track, "dim"))
        track = method.track
        table.add_row(name, method.fusion.kind if method.fusion else "-", method.about)
    Screen(highlight=True).print(table)


def fusions(json: AsJson = False) -> None:
    """List every fusion: what a client uploads for it, and what the server must hold."""
    from inspect import getmodule

    from rich.table import Table

    from mooring.cli.terminal import Screen
    from mooring.fusion import FUSIONS

    rows = []
    for kind, rule in FUSIONS.items():
        uploads = ", ".join(sorted(words(type(part).__name__) for part in rule().needs))
        asks = "".join(f" and {images} images" for images in sorted(rule().asks))
        about = (getmodule(rule).__doc__ or "").strip()
        rows.append({"fusion": kind, "uploads": uploads, "server": asks.removeprefix(" and "), "about": about})
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("fusion", style="bold", no_wrap=True)
    table.add_column("a client uploads")
    table.add_column("about")
    for row in rows:
        table.add_row(
            row["fusion"], row["uploads"], row["about"] + (f" Needs {row['server']}." if row["server"] else "")
        )
    Screen(highlight=True).print(table)


def words(name: str) -> str:
    """LabelCounts -> label counts"""
    return sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()


def show(
    method: Annotated[str, typer.Argument(help="A method's name, or package.module:NAME of your own.")],
    json: AsJson = False,
) -> None:
    """Print a method's full tree; every line of it can be overridden, e.g. method.client.align.weight.base.value=3."""
    from mooring.config import ALL_CODE, as_yaml, named_method
    from mooring.config.tree import to_tree

    found = named_method(method, ALL_CODE)
    tree = {"method": {"name": method, **to_tree(found)}}
    if json:
        print_json(tree)
        return
    typer.echo(f"# {found.about or 'no description'}\n{as_yaml(tree)}", nl=False)
