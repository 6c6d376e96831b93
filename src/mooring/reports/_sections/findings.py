"""The doctor's findings in every run."""

from collections.abc import Iterator

from mooring.doctor import Finding
from mooring.reports._report_data import ReportData, Run, SeedGroup
from mooring.reports._section import Section
from mooring.reports._table import Cell, Table

FEW = 3  # findings that are read at once; the first one stands at the top
COLUMNS = (
    "experiment",
    "in runs",
    "severity",
    "finding",
    "in words",
    "clients",
    "from round",
    "evidence",
    "try",
    "tried on",
)


def findings(data: ReportData) -> Section:
    rows = tuple(row for group in data.groups for row in finding_rows(group))
    if not rows:
        return Section("findings", "Doctor", "")
    lead = "The findings of `mooring doctor`; every remedy is a command that was seen to help, and can be pasted."
    note = "Words and evidence are those of the first run and the first client concerned."
    alone = len(data.runs) == 1  # and need not be named in every row
    columns, rows = (COLUMNS[2:], tuple(row[2:] for row in rows)) if alone else (COLUMNS, rows)
    table = Table("findings", "Findings", columns, rows, note, folded=len(rows) > FEW)
    return Section("findings", "Doctor", lead, tables=(table,))


def finding_rows(group: SeedGroup) -> Iterator[tuple[Cell, ...]]:
    """Each kind of finding once, with the number of runs that have it."""
    kinds: dict[str, list[tuple[Run, Finding]]] = {}
    for run in group.runs:
        for finding in run.diagnosis.findings:
            kinds.setdefault(finding.kind, []).append((run, finding))
    for found in kinds.values():
        concerned = len({run.title for run, _ in found})
        yield group.label, f"{concerned} of {len(group.runs)}", *finding_row(*found[0])


def finding_row(run: Run, finding: Finding) -> tuple[Cell, ...]:
    everybody = len(set(finding.clients)) == len(run.clients) > 1
    clients = "all" if everybody else ", ".join(map(run.result.site, finding.clients)) or None
    evidence = finding.evidence[0].text if finding.evidence else None
    first = (finding.severity, finding.kind, finding.words)
    return *first, clients, finding.round, evidence, finding.remedy or None, finding.support or None
