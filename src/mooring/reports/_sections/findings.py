"""The doctor's findings: in one sentence, as lines of judgement, and one by one."""

from collections.abc import Iterator

from mooring.doctor import Finding
from mooring.reports._report_data import ReportData, ReportedRun, SeedGroup
from mooring.reports._section import Section, SummaryAnswer, VerdictLine
from mooring.reports._table import Cell, Table
from mooring.wording import join_some, plural, round_number

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
    kinds: dict[str, list[tuple[ReportedRun, Finding]]] = {}
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


def finding_cells(run: ReportedRun, finding: Finding) -> dict[str, Cell]:
    everybody = len(set(finding.clients)) == len(run.clients) > 1
    return {
        "severity": finding.severity,
        "finding": finding.kind,
        "in words": finding.words,
        "clients": "all" if everybody else ", ".join(map(run.result.site, finding.clients)) or None,
        "from round": None if finding.round is None else round_number(finding.round),
        "evidence": finding.evidence[0].text if finding.evidence else None,
        "try": finding.remedy or None,
        "tried on": finding.support or None,
    }


def healthy(data: ReportData) -> SummaryAnswer:
    """The findings in one sentence."""
    ill = [run for run in data.runs if run.diagnosis.ill]
    if not ill:
        well = f"The doctor finds no problem in {plural(len(data.runs), 'run')}"
        return SummaryAnswer("Problems", f"{well}{notes(data)}.", "good")
    if len(data.runs) == 1:
        findings = [finding for finding in ill[0].diagnosis.findings if finding.ill]
        more = len(findings) - 1
        rest = f" {plural(more, 'more finding')}: {join_some([f.kind for f in findings[1:]])}." if more else ""
        return SummaryAnswer("Problems", f"{findings[0].words.rstrip('.')}.{rest}", "bad")
    others = "\nNone in the others." if len(ill) < len(data.runs) else ""
    return SummaryAnswer("Problems", f"{problem_words(data)}.{others}", "bad")


def notes(data: ReportData) -> str:
    """What the doctor remarks without calling it a problem: one note in its words, several by their kinds."""
    found = [finding for run in data.runs for finding in run.diagnosis.findings if not finding.ill]
    if len(found) == 1:
        return f", and notes: {found[0].words.rstrip('.')}"
    kinds = join_some(list(dict.fromkeys(finding.kind for finding in found)))
    return f", and has {plural(len(found), 'note')}: {kinds}" if found else ""


def problem_words(data: ReportData) -> str:
    """Which experiments have problems, which, and in how many runs; experiments with the same problems are joined."""
    alike: dict[str, list[str]] = {}
    for group in data.groups:
        if ill := [run for run in group.runs if run.diagnosis.ill]:
            kinds = join_some(list(dict.fromkeys(f.kind for run in ill for f in run.diagnosis.findings if f.ill)))
            alike.setdefault(f"{kinds}, in {len(ill)} of {plural(len(group.runs), 'run')}", []).append(group.label)
    return "; ".join(f"{join_some(who)} ({what}{' each' if len(who) > 1 else ''})" for what, who in alike.items())


def finding_lines(data: ReportData) -> Iterator[VerdictLine]:
    """Runs with problems, and how many have none."""
    well = sum(not run.diagnosis.ill for run in data.runs)
    if well < len(data.runs):
        yield VerdictLine("bad", "problem", problem_words(data), subject="doctor")
    if well:
        yield VerdictLine(
            "good", "no problem", f"The doctor finds no problem in {plural(well, 'run')}", subject="doctor"
        )
