"""`mooring clean`: what a finished run no longer needs."""

from pathlib import Path
from typing import Annotated

import typer


def clean(runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders of finished runs.")]) -> None:
    """Remove the clients' states of finished runs; uploads and results stay. An interrupted run is left alone."""
    from mooring.reports.table import size
    from mooring.store import discard_states, locked, read_result

    for run in runs:
        folder = Path(run)
        read_result(folder)  # a run that is not finished is refused: its states are all it has
        with locked(folder):
            typer.echo(f"{run}: {size(discard_states(folder))} removed")
