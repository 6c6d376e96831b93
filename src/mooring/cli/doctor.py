"""`mooring doctor`: what is wrong with a run, an old log, or a plan."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mooring.cli.arguments import AsJson, Settings, TrustCode, experiments, print_json, trusted
from mooring.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mooring.cli.terminal import Screen
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

    from mooring.client.bank import stand_in
    from mooring.simulation import prepare
    from mooring.simulation.forecast import forecast

    told: list[dict[str, Any]] = []
    for experiment in experiments(settings):
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


def show(diagnosis: "Diagnosis") -> None:
    """One screen: the verdict, the findings by kind with the clients they concern, what to try."""
    from rich.text import Text

    from mooring.cli.terminal import Screen

    screen = Screen()
    ill = len([finding for finding in diagnosis.findings if finding.ill])
    verdict = (("ill", "bold red"), f" ({ill} findings)") if ill else (("nothing ill", "bold green"), "")
    screen.print(Text.assemble((diagnosis.method, "bold"), f"  {diagnosis.title}: ", *verdict), soft_wrap=True)
    show_findings(screen, diagnosis.findings)
    if diagnosis.distances:
        apart = ", ".join(f"{client}: {value:.2f}" for client, value in list(diagnosis.distances.items())[:MOST])
        screen.print(f"median |log(lambda/lambda*)| by client  {apart}", style="dim")
    for remedy in dict.fromkeys(finding.remedy for finding in diagnosis.findings if finding.remedy and finding.ill):
        screen.print(Text.assemble(("try", "bold"), f"  {remedy}"))
    for remark in diagnosis.remarks:
        screen.print(remark, style="dim")


def show_findings(screen: "Screen", findings: "Sequence[Finding]") -> None:
    """One block per kind: the first client's words in full, or every client's where each has its own story."""
    from rich.padding import Padding
    from rich.text import Text

    for kind, ill in dict.fromkeys((finding.kind, finding.ill) for finding in findings):
        same = [finding for finding in findings if (finding.kind, finding.ill) == (kind, ill)]
        mark = ("ill ", "red") if same[0].ill else ("note", "cyan")
        clients = [str(finding.client) for finding in same if finding.client is not None]
        remedy = (f" -> {same[0].remedy}" if same[0].remedy and not same[0].ill else "", "dim")
        if kind in EACH:
            screen.print(Text.assemble(mark, " ", (kind, "bold"), remedy))
            for finding in same[:MOST]:
                screen.print(Padding(f"client {finding.client} {finding.text}", (0, 0, 0, 5)))
        else:
            who = f" client {clients[0]}" if clients else ""
            others = (f" (also clients {', '.join(clients[1:MOST])})" if len(clients) > 1 else "", "dim")
            screen.print(Text.assemble(mark, " ", (kind, "bold"), f"{who}: {same[0].text}", others, remedy))


def show_forecast(name: str, found: "RunForecast") -> None:
    """The table of clients, then what it means."""
    from rich.table import Table
    from rich.text import Text

    from mooring.cli.terminal import Screen
    from mooring.doctor.finding import Finding, number
    from mooring.reports.table import size

    screen = Screen()
    screen.print(Text.assemble((name, "bold"), ", before it runs"))
    table = Table(box=None, pad_edge=False)
    for heading in ("client", "images", "steps", "relaxation (steps)", "largest lambda"):
        table.add_column(heading, justify="right")
    for line in found.clients[:MOST]:
        relaxation = "-" if line.relaxation is None else number(line.relaxation)
        largest = "-" if line.largest is None else number(line.largest)
        table.add_row(str(line.client), f"{line.samples:,}", f"{line.steps:,}", relaxation, largest)
    screen.print(table)
    if len(found.clients) > MOST:
        screen.print(f"... and {len(found.clients) - MOST} more clients", style="dim")
    findings = [Finding(f.kind, f.text, client=f.client, remedy=f.remedy) for f in found.findings]
    show_findings(screen, findings)
    upload = size(found.upload_bytes)
    screen.print(f"about {found.minutes:.1f} core-minutes of training; each client uploads {upload} once")
