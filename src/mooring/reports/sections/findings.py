"""What the doctor says of every run."""

from mooring.reports.book import Book
from mooring.reports.section import Section
from mooring.reports.table import Table


def findings(book: Book) -> Section:
    rows = [
        (
            run.title,
            "ill" if finding.ill else "note",
            finding.kind,
            finding.client,
            finding.round,
            finding.text,
            finding.remedy or None,
        )
        for run in book.runs
        for finding in run.diagnosis.findings
    ]
    columns = ("run", "verdict", "finding", "client", "round", "what", "try")
    lead = "The findings of `mooring doctor`; every remedy can be pasted behind `mooring run`."
    if not rows:
        return Section("findings", "Doctor", "")
    return Section("findings", "Doctor", lead, tables=(Table("findings", "Findings", columns, tuple(rows)),))
