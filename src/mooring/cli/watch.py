"""`mooring watch`: a run, a sweep or a study as it goes, from what it writes, in any other terminal."""

from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import TrustCode, trusted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mooring.cli.terminal import Screen
    from mooring.config import Trust

SECONDS = 1.0  # between two frames
PATIENCE = 3  # frames for which a study may have no sweep at work: it is between two of them


def watch(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Of a run, a sweep or a study: going on, ended, or to come."),
    ],
    once: Annotated[bool, typer.Option("--once", help="Print one frame and end.")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Watch a run (accuracy over rounds, every client's losses and pull), a sweep or a study, until it ends.

    A folder that is not there yet is waited for.
    """
    from rich.live import Live

    from mooring.cli.terminal import Screen

    trust, console = trusted(trust_code), Screen()
    if not once:
        wait_for(folder)
    if once or not at_work(folder):
        console.print(frame(folder, trust, console))
        return
    idle = 0
    with Live(frame(folder, trust, console), console=console, auto_refresh=False) as live:
        while idle < (PATIENCE if holds_sweeps(folder) else 1):
            sleep(SECONDS)
            live.update(frame(folder, trust, console), refresh=True)
            idle = 0 if at_work(folder) else idle + 1


def wait_for(folder: Path) -> None:
    """Until there is something in the folder; a folder with anything else in it is not waited for."""
    from mooring.cli.spinner import working

    if holds_something(folder):
        return
    with working(f"waiting for {folder}; Ctrl-C ends"):
        while not holds_something(folder):
            sleep(SECONDS)


def holds_something(folder: Path) -> bool:
    """Nobody is about to write into it, or what is to be watched is there."""
    from mooring.record import RunFolder, in_use

    if not folder.is_dir():
        return folder.exists()
    busy = in_use(folder) or any(in_use(child) for child in folder.iterdir() if child.is_dir())
    return not busy or RunFolder(folder).begun or bool(sweeps_in(folder))


def sweeps_in(folder: Path) -> list[Path]:
    """The sweeps of a study; a sweep is its own one."""
    from mooring.sweep.members import PLAN

    if (folder / PLAN).is_file():
        return [folder]
    return sorted(file.parent for file in folder.glob(f"*/{PLAN}"))


def holds_sweeps(folder: Path) -> bool:
    """Is it a study?"""
    return sweeps_in(folder) not in ([], [folder])


def at_work(folder: Path) -> bool:
    from mooring.cli.watch_run import going_on
    from mooring.record import in_use

    sweeps = sweeps_in(folder)
    return any(map(in_use, sweeps)) if sweeps else going_on(folder)


def frame(folder: Path, trust: "Trust", console: "Screen") -> "RenderableType":
    """All that can be seen at this moment."""
    if sweeps := sweeps_in(folder):
        from mooring.cli.watch_sweep import frame_of_sweeps

        return frame_of_sweeps(folder, sweeps, trust, console.height)
    from mooring.cli.watch_run import frame_of_run, look

    return frame_of_run(look(folder, trust))
