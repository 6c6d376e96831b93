"""Norms of the clients' prototypes, and their shares of the global prototypes."""

from mooring.doctor import shares_by_class
from mooring.record import ClientHistory
from mooring.reports._figure import Curves, Heat, fitting
from mooring.reports._report_data import ReportData, ReportedRun, seeds_of
from mooring.reports._section import Section
from mooring.reports._sections.drawing import client_lines, clients_drawn, run_curves
from mooring.reports._table import Cell, Table

Norms = dict[int, tuple[float, ...]]  # client -> one per class


def prototypes(data: ReportData) -> Section:
    runs = [run for run in data.shown if norms_by_round(run)]
    figures = tuple(figure for run in runs for figure in (norms(run), shares(run), by_class(run)))
    lead = (
        "Where prototypes are averaged as they are, a client's share of the global prototypes is proportional to the "
        f"norm of its own: |P_kc| / sum_j |P_jc|.{data.not_shown}"
    )
    return Section("prototypes", "Prototypes", lead, figures, (norm_table(runs),) if runs else ())


def norms_by_round(run: ReportedRun) -> dict[int, Norms]:
    found: dict[int, Norms] = {}
    for client in run.clients:
        for row in client.rounds:
            if row.prototype_norms:
                found.setdefault(row.round, {})[client.client] = row.prototype_norms
    return dict(sorted(found.items()))


def overall(norms: Norms) -> dict[int, float]:
    """client -> its share of all global prototypes together: the mean over classes of |P_kc| / sum_j |P_jc|"""
    if any(sum(column) <= 0 for column in zip(*norms.values(), strict=True)):
        return {}
    return {client: sum(own) / len(own) for client, own in shares_by_class(norms).items()}


def data_share(run: ReportedRun, client: ClientHistory) -> float:
    return (client.samples or 0) / max(sum(other.samples or 0 for other in run.clients), 1)


def norms(run: ReportedRun) -> Curves:
    lines = tuple(client_lines(run, lambda _, row: mean(row.prototype_norms)))
    caption = "Mean norm of a client's prototypes. Anchors have norm 1; a large lambda pulls there."
    return run_curves(run, "norms", "Prototype norms", caption, "mean norm", lines, fitting(lines))


def shares(run: ReportedRun) -> Curves:
    at = {round_: overall(norms) for round_, norms in norms_by_round(run).items()}
    lines = (
        *client_lines(run, lambda client, row: at.get(row.round, {}).get(client.client)),
        *client_lines(run, lambda client, _: data_share(run, client), "dashed", "share of images"),
    )
    caption = (
        "Solid: share of the global prototypes; dashed: share of all images. If they differ much, a few clients "
        "dominate the global prototypes."
    )
    return run_curves(run, "shares", "Share of the global prototypes", caption, "share", lines)


def by_class(run: ReportedRun) -> Heat:
    """The last round, client by class."""
    last = list(norms_by_round(run).values())[-1]
    last = {client.client: last[client.client] for client in clients_drawn(run) if client.client in last}
    found = shares_by_class(last) if all(sum(column) > 0 for column in zip(*last.values(), strict=True)) else {}
    names = run.result.classes
    return Heat(
        "class-shares",
        "Share by class",
        "Whose prototype is it, class by class, after the last round? Each column adds up to 1.",
        "class",
        "client",
        names,
        tuple(run.result.site(client) for client in found),
        tuple(tuple(row) for row in found.values()),
        run.title,
    )


def norm_table(runs: list[ReportedRun]) -> Table:
    rows: list[dict[str, Cell]] = []
    for run in runs:
        last = list(norms_by_round(run).values())[-1]
        share = overall(last)
        rows += [
            {
                "run": run.title,
                "client": client.site,
                "mean norm": mean(last[client.client]),
                "share of prototypes": share.get(client.client),
                "share of images": data_share(run, client),
            }
            for client in run.clients
            if client.client in last
        ]
    title = "Prototypes after the last round"
    return Table.from_rows("prototypes", title, rows, seeds=seeds_of(runs), folded=True)


def mean(values: tuple[float, ...] | None) -> float | None:
    return sum(values) / len(values) if values else None
