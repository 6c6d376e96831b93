"""The doctor's findings in every run."""

from collections.abc import Iterator

from mooring.doctor import Finding
from mooring.reports._report_data import ReportData, Run, SeedGroup
from mooring.reports._section import Section
from mooring.reports._table import Cell, Table

FEW = 3  # findings that are read at once; the first one stands at the top


def findings(data: ReportData) -> Section:
    rows = [row for group in data.groups for row in finding_rows(group)]
    if not rows:
        return Section("findings", "Doctor", "")
    lead = "The findings of `mooring doctor`; every remedy is a command that was seen to help, and can be pasted."
    note = "Words and evidence are those of the first run and the first client concerned."
    if len(data.runs) == 1:  # and need not be named in every row
        rows = [{name: cell for name, cell in row.items() if name not in ("experiment", "in runs")} for row in rows]
    table = Table.from_rows("findings", "Findings", rows, note, folded=len(rows) > FEW)
    return Section("findings", "Doctor", lead, tables=(table,))


def finding_rows(group: SeedGroup) -> Iterator[dict[str, Cell]]:
    """Each kind of finding once, with the number of runs that have it."""
    kinds: dict[str, list[tuple[Run, Finding]]] = {}
    for run in group.runs:
        for finding in run.diagnosis.findings:
            kinds.setdefault(finding.kind, []).append((run, finding))
    for found in kinds.values():
        concerned = len({run.title for run, _ in found})
        yield {
            "experiment": group.label,
            "in runs": f"{concerned} of {len(group.runs)}",
            **finding_cells(*found[0]),
        }


def finding_cells(run: Run, finding: Finding) -> dict[str, Cell]:
    everybody = len(set(finding.clients)) == len(run.clients) > 1
    return {
        "severity": finding.severity,
        "finding": finding.kind,
        "in words": finding.words,
        "clients": "all" if everybody else ", ".join(map(run.result.site, finding.clients)) or None,
        "from round": finding.round,
        "evidence": finding.evidence[0].text if finding.evidence else None,
        "try": finding.remedy or None,
        "tried on": finding.support or None,
    }
