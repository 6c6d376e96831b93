"""`mooring report`: one page about a run, a sweep or a study; or its tables and figures."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A run, a sweep or a study.")],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="html, csv, markdown, latex, excel or figures.")
    ] = "html",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default into the folder.")] = None,
) -> None:
    """Write one self-contained page with every chart and table, or the same content for a paper or a spreadsheet."""
    from mooring.reports import report as write

    typer.echo(str(write(Path(folder), format_, out)))
