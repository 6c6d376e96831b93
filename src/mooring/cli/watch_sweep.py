"""A sweep or a study at one moment: how many runs are done, how far those are that go on, what came out last."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mooring.cli.accuracies import accuracy_with_interval
from mooring.cli.arguments import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mooring.config import Trust
    from mooring.sweep import Member

LEAST = 6  # runs that are shown, however low the terminal is
GOES_ON, ENDED, TO_COME = range(3)  # the order of the lines
AROUND = 5  # lines of a frame that are no runs, and the prompt below


def frame_of_sweeps(folder: Path, sweeps: Sequence[Path], trust: "Trust", height: int) -> "RenderableType":
    """Runs that go on first, then those that ended, then those to come."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from mooring.record import in_use
    from mooring.sweep.members import members

    rows = [(sweep.name, member) for sweep in sweeps for member in members(sweep, trust)]
    seen = [(*member_state(member), sweep, member) for sweep, member in rows]
    done = sum(rank == ENDED for rank, *_ in seen)
    what = "sweep" if list(sweeps) == [folder] else f"study of {plural(len(sweeps), 'sweep')}"
    state = "running" if any(map(in_use, sweeps)) else "finished" if done == len(seen) else "stopped"
    table = Table(box=None, pad_edge=False)
    table.add_column("run", overflow="fold")
    table.add_column("rounds of\nclients done", justify="right")
    table.add_column("accuracy (95 % interval by\nWilson, test images)", justify="right")
    room = max(height - AROUND, LEAST)
    for _, rounds, accuracy, sweep, member in sorted(seen, key=lambda row: row[0])[:room]:
        name = member.name if what == "sweep" else f"{sweep}/{member.name}"
        table.add_row(name, rounds, accuracy)
    more = [f"... and {plural(len(seen) - room, 'more run')}"] if len(seen) > room else []
    head = Text(f"{what}  {folder}  {state}: {done} of {plural(len(seen), 'run')} finished", "bold")
    return Group(head, table, *more)


def member_state(member: "Member") -> tuple[int, str, str]:
    """Where it stands, how far it is, what came out so far."""
    from mooring.events import ClientRecord, PartitionDrawn, SnapshotFused
    from mooring.record import RunFolder

    result = member.result
    if result is not None:
        images = member.trained.test_images if member.trained else None
        return ENDED, "all", accuracy_with_interval(result.metrics.accuracy, images)
    folder = RunFolder(member.folder)
    if not member.trains or not folder.begun:
        return TO_COME, "-", "-"
    events = [timed.event for timed in folder.events]
    rounds = {(event.client, event.round) for event in events if isinstance(event, ClientRecord)}
    clients = [sum(map(bool, event.summary.sizes)) for event in events if isinstance(event, PartitionDrawn)]
    fused = [
        accuracy_with_interval(event.accuracy, event.images)
        for event in events
        if isinstance(event, SnapshotFused) and event.accuracy is not None
    ]
    total = (clients or [0])[-1] * (member.experiment.training.rounds if member.experiment.method.client.terms else 1)
    return GOES_ON, f"{len(rounds)} of {total}", f"so far {fused[-1]}" if fused else "-"
