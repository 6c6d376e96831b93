"""`mooring compare`: the page of a sweep, for runs that were made separately."""

from pathlib import Path
from typing import Annotated

import typer

from mooring.cli.arguments import Positive, TrustCode, say, trusted


def compare(
    folders: Annotated[list[str], typer.Argument(metavar="RUN RUN...", help="Folders of runs or sweeps, two or more.")],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="html, csv, markdown, latex, excel, figures or pdf.")
    ] = "html",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default comparison.html here.")] = None,
    positive: Positive = None,
    trust_code: TrustCode = False,
) -> None:
    """Set runs that were made separately side by side: what differs, which is best, and whether that is settled.

    Runs that differ by their seed alone become one line; lines on the same data are compared pair by pair of seeds.
    """
    from mooring.reports import compare as write

    say(str(write([Path(folder) for folder in folders], format_, out, trusted(trust_code), positive)))
