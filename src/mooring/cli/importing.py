"""`mooring import`: logs of the published code become run folders."""

from pathlib import Path
from typing import Annotated

import typer

from mooring.cli.arguments import AsJson, print_json
from mooring.errors import ConfigError

OUT = "out="
SHOWN = ("method", "dataset", "accuracy", "clients", "complete")


def import_(
    arguments: Annotated[list[str], typer.Argument(metavar="LOG... [out=FOLDER]", help="Logs, and where to put them.")],
    json: AsJson = False,
) -> None:
    """Turn logs of the published code into run folders, so that old experiments appear in the same reports.

    What a log does not tell is null; `mooring doctor` examines an imported run, `mooring fuse` has nothing to fuse.
    """
    outs = [argument.removeprefix(OUT) for argument in arguments if argument.startswith(OUT)]
    logs = [Path(argument) for argument in arguments if not argument.startswith(OUT)]
    if not logs or len(outs) > 1 or "" in outs:
        raise ConfigError([f"{' '.join(arguments)!r}: must be logs and at most one out=FOLDER"])
    from mooring.importing import import_log

    told = []
    for log in logs:
        out = Path(outs[0], *([log.stem] if len(logs) > 1 else [])) if outs else None
        for folder, result in import_log(log, out):
            told.append({"folder": str(folder), "log": str(log), **{key: result[key] for key in SHOWN}})
    if json:
        print_json(told)
        return
    for row in told:
        accuracy = "no fused accuracy" if row["accuracy"] is None else f"accuracy {row['accuracy']:.4f}"
        typer.echo(f"{row['log']}: {row['method']} on {row['dataset'] or 'unknown data'}, {accuracy}, {row['folder']}")
