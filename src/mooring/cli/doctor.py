"""`mooring doctor`: diagnose a run, an old log, or a plan."""

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mooring.cli.arguments import AsJson, SettingsArgument, TrustCode, experiments, print_json, trusted
from mooring.errors import ConfigError, StoreError
from mooring.wording import client_name, round_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mooring.cli.screen import Screen
    from mooring.doctor import Diagnosis, Finding
    from mooring.events import Forecast
    from mooring.execution import RunForecast

ILL = 1  # exit code
EACH = ("running-away",)  # kinds with separate evidence for every client
MOST = 40  # clients that are shown one by one
FEW = 3  # of them where each takes a line of its own
MARKS = {"ill": ("error", "bold red"), "note": ("note ", "cyan")}
INDENT = " " * 6


def doctor(
    settings: SettingsArgument = None,
    log: Annotated[Path | None, typer.Option(help="A log of the published code instead of a run.")] = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Examine a run folder, a log (--log FILE), or, before it runs, a configuration (the settings of `run`).

    Exit code 1 if a problem is found.
    """
    if log is None and not (settings and Path(settings[0]).is_dir()):
        before(settings, json)
        return
    from mooring.cli.live import working

    if log is not None and settings:
        raise StoreError("--log takes no further settings", "examine one thing at a time")
    with working(f"examining {', '.join(settings or [str(log)])}", silent=json):
        from mooring.doctor import case_of_log, examine, read_case
        from mooring.notes import read_imports

        if log is not None:
            imports = read_imports(log)
            names = [log.name if len(imports) == 1 else f"{log.name} #{i}" for i in range(1, len(imports) + 1)]
            cases = [case_of_log(one.record, one.settings, name) for one, name in zip(imports, names, strict=True)]
        else:
            cases = [read_case(Path(folder), trusted(trust_code)) for folder in settings or []]
        diagnoses = [examine(case) for case in cases]
    if json:
        trees = [diagnosis_tree(diagnosis) for diagnosis in diagnoses]
        print_json(trees[0] if len(trees) == 1 else trees)
    else:
        for diagnosis in diagnoses:
            show_diagnosis(diagnosis)
    if any(diagnosis.ill for diagnosis in diagnoses):
        raise typer.Exit(ILL)


def before(settings: list[str] | None, json: bool) -> None:
    """The a-priori verdict; a line says what takes the time while it does."""
    chosen = experiments(settings)  # every mistake is reported before anything heavy is imported
    from dataclasses import asdict, replace

    from mooring.cli.live import working
    from mooring.cli.progress import show_reading
    from mooring.client import random_bank
    from mooring.execution import forecast, prepare

    trees: list[dict[str, Any]] = []
    for experiment in chosen:
        with working("reading the images and drawing the partition", silent=json), show_reading():
            federation, job = prepare(experiment)
        with working("timing a few steps of the largest client", silent=json):
            if experiment.method.bank is not None and federation.public is not None:
                job = replace(job, bank=random_bank(experiment.method.bank, federation.public, job))
            found = forecast(job, federation)
        findings = foreseen(found, settings or [])
        trees.append({"method": experiment.label, **asdict(found), "findings": [asdict(one) for one in findings]})
        if not json:
            show_forecast(experiment.label, found, findings, dict(enumerate(site.name for site in federation.sites())))
    if json:
        print_json(trees[0] if len(trees) == 1 else trees)


def foreseen(found: "RunForecast", settings: list[str]) -> "list[Finding]":
    """What can be said before a run, as findings: one per kind."""
    from mooring.doctor import Finding, FindingEvidence

    kinds = {
        forecast.kind: [same for same in found.findings if same.kind == forecast.kind] for forecast in found.findings
    }
    return [
        Finding(
            kind,
            "note",
            sentence(same[0]),
            tuple(FindingEvidence(forecast.evidence, forecast.client) for forecast in same),
            with_remedy(settings, same[0].remedy.split()),
        )
        for kind, same in kinds.items()
    ]


def sentence(forecast: "Forecast") -> str:
    text = forecast.text if forecast.client is None else f"client {forecast.client} {forecast.text}"
    return f"{text[0].upper()}{text[1:]}."


def with_remedy(settings: list[str], remedy: list[str]) -> str:
    """The examined plan with the remedy's settings in it; nothing where it has them or cannot take them."""
    changed = {word.partition("=")[0] for word in remedy}
    words = [word for word in settings if word.partition("=")[0] not in changed] + remedy
    try:
        new, old = ([one.fingerprint() for one in experiments(given)] for given in (words, settings))
    except ConfigError:
        return ""
    return "" if new == old else join(["mooring", "run", *words])


def diagnosis_tree(diagnosis: "Diagnosis") -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "title": diagnosis.title,
        "method": diagnosis.method,
        "ill": diagnosis.ill,
        "findings": [asdict(finding) for finding in diagnosis.findings],
        "distance_to_equilibrium": diagnosis.distances,
        "remarks": diagnosis.remarks,
        "sites": diagnosis.sites,
    }


def show_diagnosis(diagnosis: "Diagnosis") -> None:
    """One screen: the verdict, then finding by finding how bad it is, the evidence, and what to try."""
    from rich.text import Text

    from mooring.cli.screen import Screen

    screen = Screen()
    verdict = ("problems", "bold red") if diagnosis.ill else ("no problems", "bold green")
    screen.print(Text.assemble((diagnosis.method, "bold"), f"  {diagnosis.title}: ", verdict), soft_wrap=True)
    show_findings(screen, diagnosis.findings, diagnosis.sites)
    for remark in diagnosis.remarks:
        screen.print(remark, style="dim")


def show_findings(screen: "Screen", findings: "Sequence[Finding]", sites: "Mapping[int, str]") -> None:
    """Words first, the evidence one level below, then a command on a line of its own, printed once."""
    from rich.text import Text

    tried: set[str] = set()
    for finding in findings:
        first, *rest = folded(screen, f"{finding.words} ({finding.kind})")
        screen.print(Text.assemble(MARKS[finding.severity], f" {first}"), *rest, sep="\n", soft_wrap=True)
        for line in (line for evidence in evidence_of(finding, sites) for line in folded(screen, evidence)):
            screen.print(f"{INDENT}{line.strip()}", style="dim", soft_wrap=True)
        if finding.remedy and finding.remedy not in tried:
            screen.print(Text.assemble(INDENT, ("Try:", "bold"), f" {finding.remedy}"), soft_wrap=True)
            for line in folded(screen, finding.support) if finding.support else ():
                screen.print(f"{INDENT}{line.strip()}", style="dim", soft_wrap=True)
        tried.add(finding.remedy)


def folded(screen: "Screen", text: str) -> list[str]:
    """In lines that fit, indented but for the first."""
    from textwrap import wrap

    first, *rest = wrap(text, max(screen.width - len(INDENT), 20), break_on_hyphens=False)
    return [first, *(f"{INDENT}{line}" for line in rest)]


def evidence_of(finding: "Finding", sites: "Mapping[int, str]") -> list[str]:
    """The first client's by the name of its site, or several where each has its own story; the others are named."""
    shown = finding.evidence[: FEW if finding.kind in EACH else 1]
    lines = []
    for one in shown:
        who = [] if one.client is None else [sites.get(one.client, f"client {one.client}")]
        when = [] if one.round is None or one.client is None else [f"round {round_number(one.round)}"]
        lines.append(": ".join(part for part in (", ".join([*who, *when]), one.text) if part))
    others = [client_name(client, sites.get(client, "")) for client in finding.clients[len(shown) :]]
    if others:
        more = f" and {len(others) - MOST} more" if len(others) > MOST else ""
        lines[-1] += f" (and clients {', '.join(others[:MOST])}{more})"
    return lines


def show_forecast(name: str, found: "RunForecast", findings: "Sequence[Finding]", sites: "Mapping[int, str]") -> None:
    """The table of clients, then what it means."""
    from rich.text import Text

    from mooring.cli.screen import Screen
    from mooring.reports import Cell, Table, show_table
    from mooring.wording import bound_text, digits, size

    screen = Screen()
    screen.print(Text.assemble((name, "bold"), ", before it runs"))
    rows: list[dict[str, Cell]] = [
        {
            "client": client_name(line.client, sites[line.client]),
            "images": line.samples,
            "steps": line.steps,
            "steps until the pull\nsettles (relaxation)": "-" if line.relaxation is None else digits(line.relaxation),
            "strongest pull\n(lambda)": bound_text(line.largest),
        }
        for line in found.clients[:MOST]
    ]
    show_table(Table.from_rows("clients", "Clients", rows), screen)
    if len(found.clients) > MOST:
        screen.print(f"... and {len(found.clients) - MOST} more clients", style="dim")
    show_findings(screen, findings, sites)
    upload = size(found.upload_bytes)
    screen.print(f"about {found.minutes:.1f} core-minutes of training; each client uploads {upload} once")
