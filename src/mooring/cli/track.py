"""`mooring track`: runs in TensorBoard or MLflow."""

from pathlib import Path
from typing import Annotated

import typer

from mooring.errors import ConfigError, nearest


def track(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or sweep folders with runs/ inside.")
    ],
    to: Annotated[str, typer.Option(help="tensorboard or mlflow.")],
    out: Annotated[Path | None, typer.Option(help="Default: the folder tensorboard, or the file mlflow.db.")] = None,
) -> None:
    """Show runs in TensorBoard or MLflow: accuracies, losses and lambdas by round, the configuration, the result.

    A run that is still running is shown as far as it has come; the same command later brings it up to date.
    """
    from mooring.track import TRACKERS
    from mooring.track import track as show

    if to not in TRACKERS:
        raise ConfigError([f"--to {to}: unknown; {nearest(to, TRACKERS)}"])
    place = out or Path(TRACKERS[to].usual)
    tracker = TRACKERS[to](place)
    names = [name for run in runs for name in show(run, tracker)]
    typer.echo(f"{len(names)} {'run' if len(names) == 1 else 'runs'} in {place}")
