"""`mooring watch`: a run, a sweep or a study as it goes, from what it writes, in any other terminal."""

from collections.abc import Sequence
from math import inf, isfinite, log
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import TrustCode, resuming, trusted
from mooring.wording import accuracy_text, client_name, plural, round_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from mooring.cli.live import LiveRow
    from mooring.cli.screen import Screen
    from mooring.config import Experiment, Trust
    from mooring.record import RunRecord
    from mooring.sweeps import Member

SECONDS = 1.0  # between two frames
PATIENCE = 3  # frames for which a study may have no sweep at work: it is between two of them
MOST_CLIENTS = 30
MOST_ROUNDS = 60  # of a course, the last ones
FEWEST_RUNS = 6  # that are shown, however low the terminal is
AROUND = 4  # lines of a frame that are not runs, and the prompt below
RUNNING, ENDED, TO_COME = range(3)  # the order of the runs of a sweep
BLOCKS = "▁▂▃▄▅▆▇█"
GAP = " "
HEADINGS = ("task loss\n(L_b)", "anchor loss\n(L_a)", "anchor pull\n(lambda)", "pull at rest\n(lambda*)")


def watch(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Of a run, a sweep or a study: running, finished, or not there yet."),
    ],
    once: Annotated[bool, typer.Option("--once", help="Print one frame and end.")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Watch a run, a sweep or a study until it ends.

    If the folder does not exist yet, the command waits for it.
    """
    from mooring.cli.live import redrawn
    from mooring.cli.screen import Screen

    trust, console = trusted(trust_code), Screen()
    if not once:
        wait_for(folder)
    if once or not at_work(folder):
        console.print(frame(folder, trust, console))
        return
    idle = 0
    with redrawn(lambda: frame(folder, trust, console), console, per_second=1 / SECONDS):
        while idle < (PATIENCE if is_study(folder) else 1):
            sleep(SECONDS)
            idle = 0 if at_work(folder) else idle + 1


def wait_for(folder: Path) -> None:
    """Until there is something to watch, or something in the folder that will never be."""
    from mooring.cli.live import working

    if has_content(folder):
        return
    with working(f"waiting for {folder}; Ctrl-C ends"):
        while not has_content(folder):
            sleep(SECONDS)


def has_content(folder: Path) -> bool:
    """A run or a sweep, or anything else that nobody is about to write into."""
    from mooring.record import RunFolder, in_use

    if not folder.is_dir():
        return folder.exists()
    busy = in_use(folder) or any(in_use(child) for child in folder.iterdir() if child.is_dir())
    return not busy or RunFolder(folder).begun or bool(sweeps_in(folder))


def sweeps_in(folder: Path) -> list[Path]:
    """The sweeps of a study; a sweep is its own one."""
    from mooring.sweeps import PLAN_FILE

    if (folder / PLAN_FILE).is_file():
        return [folder]
    return sorted(file.parent for file in folder.glob(f"*/{PLAN_FILE}"))


def is_study(folder: Path) -> bool:
    return sweeps_in(folder) not in ([], [folder])


def at_work(folder: Path) -> bool:
    from mooring.record import in_use

    sweeps = sweeps_in(folder)
    return any(map(in_use, sweeps)) if sweeps else is_running(folder)


def is_running(folder: Path) -> bool:
    from mooring.record import RunFolder, in_use

    return in_use(folder) and not RunFolder(folder).ended


def frame(folder: Path, trust: "Trust", console: "Screen") -> "RenderableType":
    """The whole screen at this moment."""
    sweeps = sweeps_in(folder)
    return frame_of_sweeps(folder, sweeps, trust, console.height) if sweeps else frame_of_run(look(folder, trust))


def look(path: Path, trust: "Trust") -> "tuple[str, RunRecord, int]":
    """A title, the record of the run at this moment, and how many rounds it has."""
    from mooring.cli.progress import rounds_of
    from mooring.config import load_recorded
    from mooring.record import RunFolder

    folder = RunFolder(path)
    if folder.ended and (origin := folder.result.origin) is not None:
        seen = folder.result.last.round + 1
        return f"{folder.result.method}  {path}  imported from {origin.log}", folder.record, seen
    experiment = load_recorded(folder.experiment_file, trust)
    return f"{experiment.label}  {path}  {run_state(path, experiment)}", folder.record, rounds_of(experiment)


def run_state(folder: Path, experiment: "Experiment") -> str:
    from mooring.record import RunFolder

    if RunFolder(folder).ended:
        return "finished"
    return "running" if is_running(folder) else f"stopped; go on with: {resuming(folder, experiment)}"


def frame_of_run(seen: "tuple[str, RunRecord, int]") -> "RenderableType":
    """The fused accuracy, then a line per client."""
    from rich.console import Group
    from rich.text import Text

    title, record, rounds = seen
    more = sum(1 for client in record.clients if client.started or client.rounds) - MOST_CLIENTS
    return Group(
        Text(title, "bold"),
        accuracy_line(record, rounds),
        *test_images_line(record),
        "",
        clients_table(record, rounds),
        *([f"... and {more} more clients"] if more > 0 else []),
    )


def clients_table(record: "RunRecord", rounds: int) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("client", overflow="fold", max_width=16)
    for heading in ("rounds\ndone", *HEADINGS):
        table.add_column(heading, justify="right")
    table.add_column("pull over rounds,\nlog scale")
    begun = [client for client in record.clients if client.started or client.rounds]
    pulls = (row.lambda_felt or 0.0 for client in begun for row in client.rounds)
    positive = [value for value in pulls if 0 < value < inf]
    low, high = (min(positive), max(positive)) if positive else (1.0, 1.0)
    for client in begun[:MOST_CLIENTS]:
        last = client.rounds[-1] if client.rounds else None
        shown = (last.base_loss, last.align_loss, last.lambda_felt, last.lambda_star) if last else (None,) * 4
        by_round = {row.round: row.lambda_felt for row in client.rounds}
        table.add_row(
            client_name(client.client, client.site),
            f"{len(client.rounds)}/{rounds}",
            *("-" if value is None else f"{value:.3g}" for value in shown),
            log_sparkline([by_round.get(round_) for round_ in shown_rounds(rounds)], low, high),
        )
    return table


def accuracy_line(record: "RunRecord", rounds: int) -> str:
    if not record.fused:
        return "accuracy  nothing fused yet"
    last = max(record.fused)
    text = f"{accuracy_text(record.fused[last], record.test_images)} after {round_of(last, rounds)}"
    shown = [record.fused.get(round_) for round_ in shown_rounds(rounds)]
    known = [value for value in shown if value is not None and isfinite(value)]
    if not known:  # a log may count its rounds as it likes
        return f"accuracy  {text}"
    course = f"{sparkline(shown, min(known), max(known))}  from {min(known):.3f} to {max(known):.3f}"
    return f"accuracy  {text}\n          {course}"


def test_images_line(record: "RunRecord") -> list[str]:
    """On which images, once that is recorded."""
    result = record.result
    if result is None or result.origin is not None:
        return []
    from mooring.reports import baseline_sentence, describe_test_images
    from mooring.wording import number

    where = f"accuracy on {describe_test_images(result)}; interval by Wilson, n = 1"
    return [f"{where}. {baseline_sentence(result, number)}"]


def shown_rounds(rounds: int) -> range:
    return range(max(0, rounds - MOST_ROUNDS), rounds)


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """Each value as a block between low and high; a missing one is a gap."""
    span = high - low
    return "".join(
        GAP if value is None or not isfinite(value) else _block((value - low) / span if span > 0 else 0.5)
        for value in values
    )


def log_sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """The same on a logarithmic scale; values that are not positive are gaps."""
    logs = [log(value) if value is not None and value > 0 else None for value in values]
    return sparkline(logs, log(low), log(high))


def _block(share: float) -> str:
    return BLOCKS[round(min(max(share, 0.0), 1.0) * (len(BLOCKS) - 1))]


def frame_of_sweeps(folder: Path, sweeps: Sequence[Path], trust: "Trust", height: int) -> "RenderableType":
    """A bar for every run: first those that are running, then those that have ended, then those to come."""
    from rich.console import Group
    from rich.text import Text

    from mooring.cli.live import bars
    from mooring.record import in_use
    from mooring.sweeps import members

    study = list(sweeps) != [folder]
    rows = [
        member_row(member, f"{sweep.name}/{member.name}" if study else member.name)
        for sweep in sweeps
        for member in members(sweep, trust)
    ]
    done = sum(rank == ENDED for rank, _ in rows)
    what = f"study of {plural(len(sweeps), 'sweep')}" if study else "sweep"
    state = "running" if any(map(in_use, sweeps)) else "finished" if done == len(rows) else "stopped"
    room = max(height - AROUND, FEWEST_RUNS)
    shown = [row for _, row in sorted(rows, key=lambda ranked: ranked[0])[:room]]
    more = [f"... and {plural(len(rows) - room, 'more run')}"] if len(rows) > room else []
    head = Text(f"{what}  {folder}  {state}: {done} of {plural(len(rows), 'run')} finished", "bold")
    return Group(head, bars(shown), *more)


def member_row(member: "Member", name: str) -> "tuple[int, LiveRow]":
    """Its place in the order, and how far it is: rounds of clients, and the last accuracy with its interval."""
    from mooring.cli.live import LiveRow
    from mooring.cli.sweep_progress import accuracy_of, rounds_reached
    from mooring.events import SnapshotFused
    from mooring.record import RunFolder

    if accuracy := accuracy_of(member):
        return ENDED, LiveRow(name, 1, 1, accuracy)
    reached = rounds_reached(member)
    if reached is None:
        return TO_COME, LiveRow(name, 1, 0, "to come")
    done, total = reached
    fused = [timed.event for timed in RunFolder(member.folder).events if isinstance(timed.event, SnapshotFused)]
    known = [accuracy_text(event.accuracy, event.images) for event in fused if event.accuracy is not None]
    text = f"so far {known[-1]}" if known else f"{done}/{total} rounds of clients"
    return RUNNING, LiveRow(name, total, done, text, before=done)
