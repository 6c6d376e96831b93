"""What was found: by the doctor in every run, and by a study of every claim of its note."""

from dataclasses import replace

from mooring.doctor import Finding
from mooring.record import Cell
from mooring.reports.book import Book, Run
from mooring.reports.section import Section
from mooring.reports.table import Table

FEW = 3  # findings that are read at once; the first one is told at the top
COLUMNS = ("run", "severity", "finding", "in words", "clients", "from round", "evidence", "try")


def findings(book: Book) -> Section:
    rows = tuple(line(run, finding) for run in book.runs for finding in run.diagnosis.findings)
    if not rows:
        return Section("findings", "Doctor", "")
    lead = "The findings of `mooring doctor`; every remedy is a command that was seen to help, and can be pasted."
    note = "Evidence is that of the first client concerned."
    alone = len(book.runs) == 1  # and need not be named in every row
    columns, rows = (COLUMNS[1:], tuple(row[1:] for row in rows)) if alone else (COLUMNS, rows)
    table = Table("findings", "Findings", columns, rows, note, folded=len(rows) > FEW)
    return Section("findings", "Doctor", lead, tables=(table,))


def line(run: Run, finding: Finding) -> tuple[Cell, ...]:
    everybody = len(set(finding.clients)) == len(run.clients) > 1
    clients = "all" if everybody else ", ".join(map(run.result.site, finding.clients)) or None
    evidence = finding.evidence[0].text if finding.evidence else None
    told = (finding.severity, finding.kind, finding.words)
    return run.title, *told, clients, finding.round, evidence, finding.remedy or None


def documented(book: Book) -> Section:
    columns = ("claim", "in the note's words", "documented", "measured", "verdict", "why", "where", "id")
    rows = tuple(
        tuple(told or None for told in (c.claim, c.phrase, c.documented, c.measured, c.verdict, c.why, c.where, c.id))
        for c in book.claims
    )
    claims = (Table("documented", "Documented and measured", columns, rows, folded=True),) if rows else ()
    lead = "Every claim of the note beside what these runs show."
    tables = tuple(replace(table, folded=table.folded or bool(table.plots)) for table in book.tables)
    return Section("documented", "Documented versus measured", lead, tables=(*claims, *tables))


def courses(book: Book) -> Section:
    lead = "Every round of every client, run by run: what the tables above are drawn from."
    return Section("courses", "Every round", lead, tables=tuple(replace(c, folded=True) for c in book.courses))
