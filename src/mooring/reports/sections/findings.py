"""What was found: by the doctor in every run, and by a study of every claim of its note."""

from mooring.doctor import Finding
from mooring.record import Cell
from mooring.reports.book import Book, Run
from mooring.reports.section import Section
from mooring.reports.table import Table

COLUMNS = ("run", "verdict", "finding", "clients", "from round", "what", "try")


def findings(book: Book) -> Section:
    rows = tuple(row for run in book.runs for row in by_kind(run))
    if not rows:
        return Section("findings", "Doctor", "")
    lead = "The findings of `mooring doctor`; every remedy can be pasted behind `mooring run`."
    note = "One line per kind, in the words of the first client concerned."
    return Section("findings", "Doctor", lead, tables=(Table("findings", "Findings", COLUMNS, rows, note),))


def by_kind(run: Run) -> list[tuple[Cell, ...]]:
    kinds: dict[tuple[str, bool], list[Finding]] = {}
    for finding in run.diagnosis.findings:
        kinds.setdefault((finding.kind, finding.ill), []).append(finding)
    return [line(run, found) for found in kinds.values()]


def line(run: Run, found: list[Finding]) -> tuple[Cell, ...]:
    first = found[0]
    clients = ", ".join(str(finding.client) for finding in found if finding.client is not None)
    begun = min((finding.round for finding in found if finding.round is not None), default=None)
    verdict = "ill" if first.ill else "note"
    return run.title, verdict, first.kind, clients or None, begun, first.text, first.remedy or None


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
