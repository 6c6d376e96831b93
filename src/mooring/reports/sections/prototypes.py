"""How long are the clients' prototypes, and whose are the global ones?"""

from mooring.doctor.fusion_checks import shares_by_class
from mooring.record import ClientHistory
from mooring.reports.book import Book, Run, seeds_of
from mooring.reports.figure import Curves, Heat, Line, fitting
from mooring.reports.section import Section
from mooring.reports.sections.drawing import drawn, left_out
from mooring.reports.table import Table

Norms = dict[int, tuple[float, ...]]  # client -> one per class


def prototypes(book: Book) -> Section:
    runs = [run for run in book.shown if norms_by_round(run)]
    figures = tuple(figure for run in runs for figure in (norms(run), shares(run), by_class(run)))
    lead = (
        "Where prototypes are averaged as they are, a client speaks for the global prototypes in proportion to the "
        f"norm of its own: |P_kc| / sum_j |P_jc|.{book.not_shown}"
    )
    return Section("prototypes", "Prototypes", lead, figures, (table(runs),) if runs else ())


def norms_by_round(run: Run) -> dict[int, Norms]:
    found: dict[int, Norms] = {}
    for client in run.clients:
        for row in client.rounds:
            if row.prototype_norms:
                found.setdefault(row.round, {})[client.client] = row.prototype_norms
    return dict(sorted(found.items()))


def share(norms: Norms, client: int) -> float | None:
    """Of all global prototypes together: the mean over classes of |P_kc| / sum_j |P_jc|."""
    if client not in norms or any(sum(column) <= 0 for column in zip(*norms.values(), strict=True)):
        return None
    own = shares_by_class(norms)[client]
    return sum(own) / len(own)


def data_share(run: Run, client: ClientHistory) -> float:
    return (client.samples or 0) / max(sum(other.samples or 0 for other in run.clients), 1)


def norms(run: Run) -> Curves:
    at = norms_by_round(run)
    lines = tuple(
        Line(
            client.site,
            tuple(map(float, at)),
            tuple(mean(at[round_].get(client.client)) for round_ in at),
            client.client,
        )
        for client in drawn(run)
    )
    caption = f"Mean norm of a client's prototypes. Anchors have norm 1; a large lambda pulls there.{left_out(run)}"
    return Curves(
        "norms", "Prototype norms", caption, "round", "mean norm", lines, fitting(lines), run.title, (run.seed,)
    )


def shares(run: Run) -> Curves:
    at = norms_by_round(run)
    rounds = tuple(map(float, at))
    lines: list[Line] = []
    for client in drawn(run):
        name = client.site
        spoken = tuple(share(at[round_], client.client) for round_ in at)
        fair = (data_share(run, client),) * len(rounds)
        lines += [
            Line(name, rounds, spoken, client.client, family=name),
            Line(f"{name}, share of images", rounds, fair, client.client, "dashed", family=name),
        ]
    caption = (
        "Solid: share of the global prototypes; dashed: share of all images. "
        f"Far apart, a few speak for all.{left_out(run)}"
    )
    return Curves(
        "shares",
        "Share of the global prototypes",
        caption,
        "round",
        "share",
        tuple(lines),
        of=run.title,
        seeds=(run.seed,),
    )


def by_class(run: Run) -> Heat:
    """The last round, client by class."""
    last = list(norms_by_round(run).values())[-1]
    last = {client.client: last[client.client] for client in drawn(run) if client.client in last}
    found = shares_by_class(last) if all(sum(column) > 0 for column in zip(*last.values(), strict=True)) else {}
    names = run.classes
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


def table(runs: list[Run]) -> Table:
    rows = []
    for run in runs:
        last = list(norms_by_round(run).values())[-1]
        rows += [
            (run.title, p.site, mean(last.get(p.client)), share(last, p.client), data_share(run, p))
            for p in run.clients
            if p.client in last
        ]
    columns = ("run", "client", "mean norm", "share of prototypes", "share of images")
    return Table(
        "prototypes", "Prototypes after the last round", columns, tuple(rows), seeds=seeds_of(runs), folded=True
    )


def mean(values: tuple[float, ...] | None) -> float | None:
    return sum(values) / len(values) if values else None
