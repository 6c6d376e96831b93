"""What the note says, and what was measured here."""

from mooring.reports.book import Book
from mooring.reports.section import Section
from mooring.reports.table import Table


def documented(book: Book) -> Section:
    columns = ("id", "claim", "where", "documented", "measured", "verdict", "reason")
    rows = tuple(
        (c.id, c.claim, c.where or None, c.documented or None, c.measured or None, c.verdict, c.reason or None)
        for c in book.claims
    )
    claims = (Table("documented", "Documented and measured", columns, rows),) if rows else ()
    lead = "Every claim of the note beside what these runs show."
    return Section("documented", "Documented versus measured", lead, tables=(*claims, *book.tables))
