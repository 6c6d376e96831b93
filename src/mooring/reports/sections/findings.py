"""What was found: by the doctor in every run, and by a study of every claim of its note."""

from mooring.doctor import Finding
from mooring.record import Cell
from mooring.reports.book import Book, Run
from mooring.reports.section import Section
from mooring.reports.table import Table

COLUMNS = ("run", "severity", "finding", "in words", "clients", "from round", "evidence", "try")


def findings(book: Book) -> Section:
    rows = tuple(line(run, finding) for run in book.runs for finding in run.diagnosis.findings)
    if not rows:
        return Section("findings", "Doctor", "")
    lead = "The findings of `mooring doctor`; every remedy is a command that was seen to help, and can be pasted."
    note = "Evidence is that of the first client concerned."
    return Section("findings", "Doctor", lead, tables=(Table("findings", "Findings", COLUMNS, rows, note),))


def line(run: Run, finding: Finding) -> tuple[Cell, ...]:
    clients = ", ".join(map(str, finding.clients)) or None
    evidence = finding.evidence[0].text if finding.evidence else None
    told = finding.severity, finding.kind, finding.words, clients, finding.round, evidence, finding.remedy or None
    return run.title, *told


def documented(book: Book) -> Section:
    columns = ("claim", "in the note's words", "documented", "measured", "verdict", "why", "where", "id")
    rows = tuple(
        tuple(told or None for told in (c.claim, c.phrase, c.documented, c.measured, c.verdict, c.why, c.where, c.id))
        for c in book.claims
    )
    claims = (Table("documented", "Documented and measured", columns, rows),) if rows else ()
    lead = "Every claim of the note beside what these runs show."
    return Section("documented", "Documented versus measured", lead, tables=(*claims, *book.tables))


def courses(book: Book) -> Section:
    lead = "Every round of every client, run by run: what the tables above are drawn from."
    return Section("courses", "Every round", lead, tables=book.courses)
