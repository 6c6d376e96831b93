"""What the note says, and what was measured here."""

from mooring.reports.book import Book
from mooring.reports.section import Section
from mooring.reports.table import Table


def documented(book: Book) -> Section:
    columns = ("claim", "in the note's words", "documented", "measured", "verdict", "why", "where", "id")
    rows = tuple(
        tuple(told or None for told in (c.claim, c.phrase, c.documented, c.measured, c.verdict, c.why, c.where, c.id))
        for c in book.claims
    )
    claims = (Table("documented", "Documented and measured", columns, rows),) if rows else ()
    lead = "Every claim of the note beside what these runs show."
    return Section("documented", "Documented versus measured", lead, tables=(*claims, *book.tables))
