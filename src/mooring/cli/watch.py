"""`mooring watch`: a run as it goes, from its events, in any other terminal."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mooring.cli.sparkline import log_sparkline, sparkline
from mooring.errors import StoreError

if TYPE_CHECKING:
    from rich.console import RenderableType

SECONDS = 1.0  # between two frames
MOST_CLIENTS = 30
LONGEST = 60  # rounds of a trace that are shown, the last ones


def watch(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder of a run, going on or finished.")],
    once: Annotated[bool, typer.Option("--once", help="Print one frame and end.")] = False,
) -> None:
    """Watch a run: accuracy over rounds and every client's lambda, once a second until it ends."""
    from rich.console import Console
    from rich.live import Live

    folder = Path(run)
    console = Console(highlight=False)
    if once or not going_on(folder):
        console.print(frame(look(folder)))
        return
    with Live(frame(look(folder)), console=console, auto_refresh=False) as live:
        while going_on(folder):
            sleep(SECONDS)
            live.update(frame(look(folder)), refresh=True)


def going_on(folder: Path) -> bool:
    from mooring.store import in_use

    return in_use(folder) and not (folder / "result.json").exists()


@dataclass(frozen=True)
class Sight:
    """What can be seen of a run at one moment."""

    title: str
    state: str
    rounds: int
    accuracy: dict[int, float]  # round -> fused
    clients: dict[int, dict[int, dict[str, Any]]]  # client -> round -> its record


def look(folder: Path) -> Sight:
    from mooring.config import load
    from mooring.store import read_events

    if not (folder / "experiment.yaml").exists():
        raise StoreError(f"{folder}: holds no run", "name the folder of a run")
    (experiment,) = load(folder / "experiment.yaml")
    events = read_events(folder)
    clients: dict[int, dict[int, dict[str, Any]]] = {}
    for event in events:
        if event["event"] in ("start", "round"):
            clients.setdefault(event["client"], {})
        if event["event"] == "round":
            clients[event["client"]][event["round"]] = event
    accuracy = {event["round"]: event["accuracy"] for event in events if event["event"] == "fused"}
    rounds = experiment.training.rounds if experiment.method.client.terms else 1
    return Sight(f"{experiment.label}  {folder}", state_of(folder), rounds, accuracy, dict(sorted(clients.items())))


def state_of(folder: Path) -> str:
    if (folder / "result.json").exists():
        return "finished"
    return "running" if going_on(folder) else f"stopped; go on with: mooring resume {folder}"


def frame(sight: Sight) -> "RenderableType":
    """The whole screen: the fused accuracy, then a line per client."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = Text.assemble((sight.title, "bold"), f"  {sight.state}")
    table = Table(box=None, pad_edge=False)
    for heading in ("client", "round", "L_b", "L_a", "lambda", "lambda*"):
        table.add_column(heading, justify="right")
    table.add_column("lambda over rounds, log scale")
    felt = [row.get("lambda") for course in sight.clients.values() for row in course.values()]
    positive = [value for value in felt if value]
    low, high = (min(positive), max(positive)) if positive else (1.0, 1.0)
    for client, course in list(sight.clients.items())[:MOST_CLIENTS]:
        last = course[max(course)] if course else {}
        numbers = [number(last.get(name)) for name in ("base_loss", "align_loss", "lambda", "lambda_star")]
        trace = trace_of(course, sight.rounds, lambda values: log_sparkline(values, low, high))
        table.add_row(str(client), f"{len(course)}/{sight.rounds}", *numbers, trace)
    more = len(sight.clients) - MOST_CLIENTS
    return Group(head, accuracy_line(sight), "", table, *([f"... and {more} more clients"] if more > 0 else []))


def accuracy_line(sight: Sight) -> str:
    if not sight.accuracy:
        return "accuracy  nothing fused yet"
    shown = [sight.accuracy.get(round_) for round_ in range(sight.rounds)][-LONGEST:]
    last = max(sight.accuracy)
    known = [value for value in shown if value is not None]
    line = sparkline(shown, min(known), max(known))
    spread = f"from {min(known):.3f} to {max(known):.3f}"
    return f"accuracy  {line}  {sight.accuracy[last]:.3f} after round {last + 1}/{sight.rounds}, {spread}"


def trace_of(course: dict[int, dict[str, Any]], rounds: int, draw: Callable[[list[float | None]], str]) -> str:
    return draw([course.get(round_, {}).get("lambda") for round_ in range(rounds)][-LONGEST:])


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
