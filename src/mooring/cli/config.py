"""`mooring config`: files to start from."""

from typing import Annotated

import typer


def config(
    name: Annotated[str | None, typer.Argument(help="Which file; without it, the list of them.")] = None,
) -> None:
    """Print an experiment to start from; keep it with `mooring config digits > my.yaml`, change it, run it."""
    from rich.table import Table

    from mooring.cli.screen import Screen
    from mooring.config.examples import example, example_summary, examples

    if name is not None:
        typer.echo(example(name), nl=False)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("file", style="bold", no_wrap=True)
    table.add_column("about")
    for key in examples():
        table.add_row(key, example_summary(example(key)))
    Screen().print(table)
