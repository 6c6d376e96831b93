"""From a book to a report: what is said, in which order."""

from mooring.reports.book import Book
from mooring.reports.headline import cards, verdicts
from mooring.reports.section import Report
from mooring.reports.sections import SECTIONS


def compose(book: Book) -> Report:
    """Sections that have nothing to say are left out."""
    sections = tuple(section for section in (build(book) for build in SECTIONS) if not section.empty)
    return Report(book.title, subtitle(book), cards(book), verdicts(book), sections, book.command)


def subtitle(book: Book) -> str:
    data = ", ".join(dict.fromkeys(str(run.result["dataset"]) for run in book.runs))
    told = [f"A {book.kind}", book.subtitle if book.subtitle != data else "", data]
    return " · ".join(part for part in told if part)
