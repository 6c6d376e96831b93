"""The two losses that lambda balances, and the parts of the first."""

from mooring.reports.figure import Curves, positive
from mooring.reports.report_data import ReportData, Run, seeds_of
from mooring.reports.section import Section
from mooring.reports.sections.drawing import client_lines, has_values, in_place
from mooring.reports.table import Table


def losses(data: ReportData) -> Section:
    figures = [figure for run in data.shown for figure in (base(run), align(run)) if figure.lines]
    tables = (loss_table(data),) if figures else ()
    lead = "L_b is what a client learns from its own images, L_a its distance to the anchors; lambda* is their ratio."
    return Section("losses", "Losses", lead, tuple(figures), tables)


def base(run: Run) -> Curves:
    shown = tuple(client_lines(run, lambda _, row: row.base_loss))
    caption = f"Mean over the last epoch of each round. It should fall and settle.{in_place(run)}"
    return Curves("base-loss", "Base loss L_b", caption, "round", "L_b", shown, of=run.title, seeds=(run.seed,))


def align(run: Run) -> Curves:
    lines = client_lines(run, lambda _, row: row.align_loss)
    shown = tuple(line for line in lines if has_values(positive(line.y)))
    caption = f"An L_a that falls by orders of magnitude is what makes a learned lambda explode.{in_place(run)}"
    return Curves("align-loss", "Alignment loss L_a", caption, "round", "L_a", shown, "log", run.title, (run.seed,))


def loss_table(data: ReportData) -> Table:
    """The end of every client that is drawn: L_b, its parts, L_a."""
    last = [client.rounds[-1] for run in data.shown for client in run.clients if client.rounds]
    parts = list(dict.fromkeys(name for row in last for name in row.terms))
    rows = [
        (
            run.title,
            client.site,
            client.rounds[-1].base_loss,
            *(client.rounds[-1].terms.get(name) for name in parts),
            client.rounds[-1].align_loss,
        )
        for run in data.shown
        for client in run.clients
        if client.rounds and client.rounds[-1].base_loss is not None  # or it trains nothing
    ]
    columns = ("run", "client", "L_b", *parts, "L_a")
    return Table("losses", "Losses at the end", columns, tuple(rows), seeds=seeds_of(data.shown), folded=True)
