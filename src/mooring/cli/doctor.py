"""`mooring doctor`: what is wrong with a run, an old log, or a plan."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mooring.cli.arguments import AsJson, Settings, experiments, print_json
from mooring.errors import StoreError

if TYPE_CHECKING:
    from rich.console import Console

    from mooring.doctor import Diagnosis, Finding
    from mooring.doctor.forecast import Forecast

ILL = 1  # exit code


def doctor(
    settings: Settings = None,
    log: Annotated[Path | None, typer.Option(help="A log of the published code instead of a run.")] = None,
    json: AsJson = False,
) -> None:
    """Examine a run folder, a log (--log FILE), or, before it runs, a configuration (the settings of `run`).

    Exit code 1 when something is ill, 0 otherwise. Every remedy can be pasted behind `mooring run`.
    """
    if log is None and not (settings and Path(settings[0]).is_dir()):
        before(settings, json)
        return
    from mooring.doctor import examine
    from mooring.doctor.read_log import read_log
    from mooring.doctor.read_run import read_run

    if log is not None:
        if settings:
            raise StoreError("--log takes no further settings", "examine one thing at a time")
        histories = read_log(log)
    else:
        histories = [read_run(Path(folder)) for folder in settings or []]
    diagnoses = [examine(history) for history in histories]
    if json:
        told = [as_tree(diagnosis) for diagnosis in diagnoses]
        print_json(told[0] if len(told) == 1 else told)
    else:
        for diagnosis in diagnoses:
            show(diagnosis)
    if any(diagnosis.ill for diagnosis in diagnoses):
        raise typer.Exit(ILL)


def before(settings: list[str] | None, json: bool) -> None:
    """The a-priori verdict."""
    from dataclasses import asdict

    from mooring.conductor import prepare
    from mooring.doctor.forecast import forecast

    told: list[dict[str, Any]] = []
    for experiment in experiments(settings):
        federation, job = prepare(experiment)
        found = forecast(job, federation)
        told.append({"method": experiment.name, **asdict(found)})
        if not json:
            show_forecast(experiment.name, found)
    if json:
        print_json(told[0] if len(told) == 1 else told)


def as_tree(diagnosis: "Diagnosis") -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "title": diagnosis.title,
        "method": diagnosis.method,
        "ill": diagnosis.ill,
        "findings": [asdict(finding) for finding in diagnosis.findings],
        "distance_to_equilibrium": diagnosis.distances,
        "remarks": diagnosis.remarks,
    }


def console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def show(diagnosis: "Diagnosis") -> None:
    """One screen: the verdict, then client by client, then the run, each with its remedy."""
    screen = console()
    ill = len([finding for finding in diagnosis.findings if finding.ill])
    verdict = f"[bold red]ill[/bold red] ({ill} findings)" if ill else "[bold green]nothing ill[/bold green]"
    screen.print(f"[bold]{diagnosis.method}[/bold]  {diagnosis.title}: {verdict}")
    clients = sorted({finding.client for finding in diagnosis.findings if finding.client is not None})
    for client in clients:
        apart = diagnosis.distances.get(client)
        shown = "" if apart is None else f"  [dim]median |log(lambda/lambda*)| = {apart:.2f}[/dim]"
        screen.print(f"client {client}{shown}")
        show_findings(screen, diagnosis.of(client))
    run = diagnosis.of(None)
    if run:
        screen.print("the run")
        show_findings(screen, run)
    for remedy in dict.fromkeys(finding.remedy for finding in diagnosis.findings if finding.remedy and finding.ill):
        screen.print(f"[bold]try:[/bold] mooring run ... {remedy}")
    for remark in diagnosis.remarks:
        screen.print(f"[dim]{remark}[/dim]")


def show_findings(screen: "Console", findings: "list[Finding]") -> None:
    from rich.padding import Padding

    for finding in findings:
        mark = "[red]ill [/red]" if finding.ill else "[cyan]note[/cyan]"
        remedy = f" [dim]-> {finding.remedy}[/dim]" if finding.remedy and not finding.ill else ""
        screen.print(Padding(f"{mark} [bold]{finding.kind}[/bold]: {finding.text}{remedy}", (0, 0, 0, 2)))


def show_forecast(name: str, found: "Forecast") -> None:
    """The table of clients, then what it means."""
    from rich.table import Table

    from mooring.cli.tables import size
    from mooring.doctor.finding import number

    screen = console()
    screen.print(f"[bold]{name}[/bold], before it runs")
    table = Table(box=None, pad_edge=False)
    for heading in ("client", "images", "steps", "relaxation (steps)", "largest lambda"):
        table.add_column(heading, justify="right")
    for line in found.clients[:40]:
        relaxation = "-" if line.relaxation is None else number(line.relaxation)
        largest = "-" if line.largest is None else number(line.largest)
        table.add_row(str(line.client), f"{line.samples:,}", f"{line.steps:,}", relaxation, largest)
    screen.print(table)
    if len(found.clients) > 40:
        screen.print(f"[dim]... and {len(found.clients) - 40} more clients[/dim]")
    for client in sorted({finding.client for finding in found.findings}, key=lambda c: (c is None, c or 0)):
        screen.print("the run" if client is None else f"client {client}")
        show_findings(screen, [finding for finding in found.findings if finding.client == client])
    upload = size(found.upload_bytes)
    screen.print(f"about {found.minutes:.1f} core-minutes of training; each client uploads {upload} once")
