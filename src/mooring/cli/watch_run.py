"""A run at one moment: the fused accuracy over rounds, and every client's losses and pull."""

from collections.abc import Sequence
from math import inf, isfinite, log
from pathlib import Path
from typing import TYPE_CHECKING

from mooring.cli.accuracies import accuracy_with_interval
from mooring.cli.arguments import client_name, resuming, round_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mooring.config import Experiment, Trust
    from mooring.record import RunRecord

MOST_CLIENTS = 30
LONGEST = 60  # rounds of a trace that are shown, the last ones
BLOCKS = "▁▂▃▄▅▆▇█"
GAP = " "
HEADINGS = ("task loss\n(L_b)", "anchor loss\n(L_a)", "anchor pull\n(lambda)", "pull at rest\n(lambda*)")


def going_on(folder: Path) -> bool:
    from mooring.record import RunFolder, in_use

    return in_use(folder) and not RunFolder(folder).ended


def look(path: Path, trust: "Trust") -> "tuple[str, RunRecord, int]":
    """What a run is called, all that can be seen of it at this moment, and how many rounds it has."""
    from mooring.config import load_recorded
    from mooring.record import RunFolder

    folder = RunFolder(path)
    if folder.ended and (origin := folder.result.origin) is not None:
        seen = folder.result.last.round + 1
        return f"{folder.result.method}  {path}  imported from {origin.log}", folder.record, seen
    experiment = load_recorded(folder.experiment_file, trust)
    rounds = experiment.training.rounds if experiment.method.client.terms else 1
    return f"{experiment.label}  {path}  {run_state(path, experiment)}", folder.record, rounds


def run_state(folder: Path, experiment: "Experiment") -> str:
    from mooring.record import RunFolder

    if RunFolder(folder).ended:
        return "finished"
    return "running" if going_on(folder) else f"stopped; go on with: {resuming(folder, experiment)}"


def frame_of_run(seen: "tuple[str, RunRecord, int]") -> "RenderableType":
    """The whole screen: the fused accuracy, then a line per client."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    title, record, rounds = seen
    table = Table(box=None, pad_edge=False)
    table.add_column("client", overflow="fold", max_width=16)
    for heading in ("rounds\ndone", *HEADINGS):
        table.add_column(heading, justify="right")
    table.add_column("pull over rounds,\nlog scale")
    begun = [client for client in record.clients if client.started or client.rounds]
    felt_anywhere = (row.lambda_felt or 0.0 for client in begun for row in client.rounds)
    positive = [value for value in felt_anywhere if 0 < value < inf]
    low, high = (min(positive), max(positive)) if positive else (1.0, 1.0)
    for client in begun[:MOST_CLIENTS]:
        last = client.rounds[-1] if client.rounds else None
        shown = (last.base_loss, last.align_loss, last.lambda_felt, last.lambda_star) if last else (None,) * 4
        felt = {row.round: row.lambda_felt for row in client.rounds}
        trace = log_sparkline([felt.get(round_) for round_ in last_of(rounds)], low, high)
        table.add_row(
            client_name(client.client, client.site),
            f"{len(client.rounds)}/{rounds}",
            *map(number_or_dash, shown),
            trace,
        )
    more = len(begun) - MOST_CLIENTS
    head, accuracy = Text(title, "bold"), accuracy_line(record, rounds)
    return Group(
        head, accuracy, *test_images_line(record), "", table, *([f"... and {more} more clients"] if more > 0 else [])
    )


def accuracy_line(record: "RunRecord", rounds: int) -> str:
    if not record.fused:
        return "accuracy  nothing fused yet"
    last = max(record.fused)
    text = f"{accuracy_with_interval(record.fused[last], record.test_images)} after {round_of(last, rounds)}"
    shown = [record.fused.get(round_) for round_ in last_of(rounds)]
    known = [value for value in shown if value is not None and isfinite(value)]
    if not known:  # a log may count its rounds as it likes
        return f"accuracy  {text}"
    course = f"{sparkline(shown, min(known), max(known))}  from {min(known):.3f} to {max(known):.3f}"
    return f"accuracy  {text}\n          {course}"


def test_images_line(record: "RunRecord") -> list[str]:
    """On what images, once that is recorded."""
    result = record.result
    if result is None or result.origin is not None:
        return []
    from mooring.cli.tables import chance, on_what

    where = on_what(result.dataset, result.test_images)
    return [f"{where}; interval by Wilson, n = 1; {chance(result.metrics, result.classes)}"]


def last_of(rounds: int) -> range:
    """The rounds that are shown."""
    return range(max(0, rounds - LONGEST), rounds)


def number_or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """Each value as a block between low and high; a missing one is a gap."""
    span = high - low
    return "".join(
        GAP if value is None or not isfinite(value) else _block((value - low) / span if span > 0 else 0.5)
        for value in values
    )


def log_sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """The same on a logarithmic scale; what is not positive is a gap."""
    logs = [log(value) if value is not None and value > 0 else None for value in values]
    return sparkline(logs, log(low), log(high))


def _block(share: float) -> str:
    return BLOCKS[round(min(max(share, 0.0), 1.0) * (len(BLOCKS) - 1))]
