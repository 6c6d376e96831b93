"""The two losses that lambda balances, and the parts of the first."""

from mooring.reports.book import Book, Run
from mooring.reports.figure import Curves, positive
from mooring.reports.section import Section
from mooring.reports.sections.drawing import drawn, known, left_out, line
from mooring.reports.table import Table


def losses(book: Book) -> Section:
    figures = [figure for run in book.shown for figure in (base(run), align(run)) if figure.lines]
    tables = (table(book),) if figures else ()
    lead = "L_b is what a client learns from its own images, L_a its distance to the anchors; lambda* is their ratio."
    return Section("losses", "Losses", lead, tuple(figures), tables)


def base(run: Run) -> Curves:
    lines = tuple(line(patient, lambda moment: moment.base_loss) for patient in drawn(run))
    caption = f"Mean over the last epoch of each round. It should fall and settle.{left_out(run)}"
    shown = tuple(line for line in lines if known(line.y))
    return Curves("base-loss", "Base loss L_b", caption, "round", "L_b", shown, of=run.title)


def align(run: Run) -> Curves:
    lines = [line(patient, lambda moment: moment.align_loss) for patient in drawn(run)]
    shown = tuple(line for line in lines if known(positive(line.y)))
    caption = f"An L_a that falls by orders of magnitude is what makes a learned lambda explode.{left_out(run)}"
    return Curves("align-loss", "Alignment loss L_a", caption, "round", "L_a", shown, "log", run.title)


def table(book: Book) -> Table:
    """The end of every client that is drawn: L_b, its parts, L_a."""
    parts = list(dict.fromkeys(name for run in book.shown for terms in run.terms.values() for name in terms))
    rows = [
        (
            run.title,
            patient.client,
            patient.moments[-1].base_loss,
            *(run.terms.get(patient.client, {}).get(name) for name in parts),
            patient.moments[-1].align_loss,
        )
        for run in book.shown
        for patient in run.history.patients
        if patient.moments
    ]
    return Table("losses", "Losses at the end", ("run", "client", "L_b", *parts, "L_a"), tuple(rows))
