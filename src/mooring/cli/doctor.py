"""`mooring doctor`: what is wrong with a run, an old log, or a plan."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mooring.cli.arguments import AsJson, Settings, TrustCode, experiments, print_json, trusted
from mooring.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from mooring.doctor import Diagnosis, Finding
    from mooring.simulation.forecast import RunForecast

ILL = 1  # exit code
EACH = ("running-away",)  # kinds of which every client has its own story
MOST = 40  # clients that are shown one by one


def doctor(
    settings: Settings = None,
    log: Annotated[Path | None, typer.Option(help="A log of the published code instead of a run.")] = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Examine a run folder, a log (--log FILE), or, before it runs, a configuration (the settings of `run`).

    Exit code 1 when something is ill, 0 otherwise. Every remedy can be pasted behind `mooring run`.
    """
    if log is None and not (settings and Path(settings[0]).is_dir()):
        before(settings, json)
        return
    from mooring.doctor import case_of_log, examine, read_case
    from mooring.importing import read_imports

    if log is not None:
        if settings:
            raise StoreError("--log takes no further settings", "examine one thing at a time")
        imports = read_imports(log)
        names = [log.name if len(imports) == 1 else f"{log.name} #{i}" for i in range(1, len(imports) + 1)]
        cases = [case_of_log(one.record, one.settings, name) for one, name in zip(imports, names, strict=True)]
    else:
        cases = [read_case(Path(folder), trusted(trust_code)) for folder in settings or []]
    diagnoses = [examine(case) for case in cases]
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
    from dataclasses import asdict, replace

    from mooring.cli.progress import reading_lines
    from mooring.client.bank import stand_in
    from mooring.data.progress import reading_told
    from mooring.simulation import prepare
    from mooring.simulation.forecast import forecast

    told: list[dict[str, Any]] = []
    for experiment in experiments(settings):
        with reading_told(reading_lines):
            federation, job = prepare(experiment)
        if experiment.method.bank is not None and federation.public is not None:
            job = replace(job, bank=stand_in(experiment.method.bank, federation.public, job))
        found = forecast(job, federation)
        told.append({"method": experiment.label, **asdict(found)})
        if not json:
            show_forecast(experiment.label, found)
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
    """One screen: the verdict, the findings by kind with the clients they concern, what to try."""
    from rich.markup import escape

    screen = console()
    ill = len([finding for finding in diagnosis.findings if finding.ill])
    verdict = f"[bold red]ill[/bold red] ({ill} findings)" if ill else "[bold green]nothing ill[/bold green]"
    screen.print(f"[bold]{escape(diagnosis.method)}[/bold]  {escape(diagnosis.title)}: {verdict}", soft_wrap=True)
    show_findings(screen, diagnosis.findings)
    if diagnosis.distances:
        apart = ", ".join(f"{client}: {value:.2f}" for client, value in list(diagnosis.distances.items())[:MOST])
        screen.print(f"[dim]median |log(lambda/lambda*)| by client  {apart}[/dim]")
    for remedy in dict.fromkeys(finding.remedy for finding in diagnosis.findings if finding.remedy and finding.ill):
        screen.print(f"[bold]try[/bold]  {remedy}")
    for remark in diagnosis.remarks:
        screen.print(f"[dim]{remark}[/dim]")


def show_findings(screen: "Console", findings: "Sequence[Finding]") -> None:
    """One block per kind: the first client's words in full, or every client's where each has its own story."""
    from rich.markup import escape
    from rich.padding import Padding

    for kind, ill in dict.fromkeys((finding.kind, finding.ill) for finding in findings):
        same = [finding for finding in findings if (finding.kind, finding.ill) == (kind, ill)]
        mark = "[red]ill [/red]" if same[0].ill else "[cyan]note[/cyan]"
        clients = [str(finding.client) for finding in same if finding.client is not None]
        remedy = f" [dim]-> {same[0].remedy}[/dim]" if same[0].remedy and not same[0].ill else ""
        if kind in EACH:
            screen.print(f"{mark} [bold]{kind}[/bold]{remedy}")
            for finding in same[:MOST]:
                screen.print(Padding(f"client {finding.client} {finding.text}", (0, 0, 0, 5)))
        else:
            who = f" client {clients[0]}" if clients else ""
            others = f" [dim](also clients {', '.join(clients[1:MOST])})[/dim]" if len(clients) > 1 else ""
            screen.print(f"{mark} [bold]{kind}[/bold]{who}: {escape(same[0].text)}{others}{remedy}")


def show_forecast(name: str, found: "RunForecast") -> None:
    """The table of clients, then what it means."""
    from rich.markup import escape
    from rich.table import Table

    from mooring.doctor.finding import Finding, number
    from mooring.reports.table import size

    screen = console()
    screen.print(f"[bold]{escape(name)}[/bold], before it runs")
    table = Table(box=None, pad_edge=False)
    for heading in ("client", "images", "steps", "relaxation (steps)", "largest lambda"):
        table.add_column(heading, justify="right")
    for line in found.clients[:MOST]:
        relaxation = "-" if line.relaxation is None else number(line.relaxation)
        largest = "-" if line.largest is None else number(line.largest)
        table.add_row(str(line.client), f"{line.samples:,}", f"{line.steps:,}", relaxation, largest)
    screen.print(table)
    if len(found.clients) > MOST:
        screen.print(f"[dim]... and {len(found.clients) - MOST} more clients[/dim]")
    findings = [Finding(f.kind, f.text, client=f.client, remedy=f.remedy) for f in found.findings]
    show_findings(screen, findings)
    upload = size(found.upload_bytes)
    screen.print(f"about {found.minutes:.1f} core-minutes of training; each client uploads {upload} once")
