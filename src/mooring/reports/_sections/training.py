"""Training: lambda of every client, its equilibrium and its bounds, and the two losses that lambda balances."""

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from statistics import median

from mooring.doctor import lambda_bounds_of, progress_of, without_invalid_numbers
from mooring.events import ClientRecord
from mooring.record import ClientHistory
from mooring.reports._figure import INK, Curves, Figure, Line, PlotValues, Style, positive
from mooring.reports._report_data import ReportData, ReportedRun, SeedGroup, seeds_of
from mooring.reports._section import Section
from mooring.reports._sections.drawing import (
    OfClient,
    any_known,
    by_round,
    client_lines,
    clients_drawn,
    named_line,
    run_curves,
)
from mooring.reports._table import Table
from mooring.weighting import stability_limit
from mooring.wording import round_number

PRINTED = "'truly effective' (printed only)"  # by logs of the published code
MARKED = ("running-away", "capped", "unstable")


def lambdas(data: ReportData) -> Section:
    moored = [run for run in data.shown if any(as_set(row) or row.lambda_felt is not None for row in rows_of(run))]
    groups = [group for group in data.groups if group.first in moored]
    figures: list[Figure] = [by_group(data, groups)] if len(groups) > 1 else []
    figures += [traces(run) for run in moored]
    lead = "Lambda is how hard the anchor pulls; a rule that learns it can let it run away."
    tables = [lambda_table(moored)] if moored else []
    sheets = [by_round_table(moored)] if moored else []
    if any(run.result.origin for run in moored):  # what logs print is on the page too
        tables, sheets = tables + sheets, []
    return Section("lambda", "Lambda", lead, tuple(figures), tuple(tables), sheets=tuple(sheets))


def as_set(row: ClientRecord) -> float | None:
    """Logs of a fixed lambda print the value that was set, not the effective lambda."""
    return row.lambda_raw if row.lambda_felt is None else None


TRACES: tuple[tuple[OfClient, Style, str], ...] = (
    (lambda _, row: row.lambda_felt, "solid", ""),
    (lambda _, row: as_set(row), "dotted", "as it was set"),
    (lambda _, row: row.lambda_star, "dashed", "lambda*"),
)


def titled(run: ReportedRun) -> str:
    """With a mark if the effective lambda of a log was inferred."""
    how = run.result.origin.inferred.get("lambda_felt") if run.result.origin else None
    return f"{run.title}, effective lambda inferred" if how else run.title


def rows_of(run: ReportedRun) -> list[ClientRecord]:
    return [row for client in run.clients for row in client.rounds]


def by_group(data: ReportData, groups: list[SeedGroup]) -> Curves:
    """The median over clients and seeds, within the range of all of them."""
    lines = []
    for group in groups:
        at = by_round((row.round, row.lambda_felt or None) for run in group.runs for row in rows_of(run))
        middle, band = tuple(map(median, at.values())), (tuple(map(min, at.values())), tuple(map(max, at.values())))
        lines.append(Line(group.label, tuple(map(float, at)), middle, *data.looks[group.label], band))
    caption = (
        "Median effective lambda over clients and seeds; the band spans all of them. "
        "A band that widens upwards is a client running away."
    )
    return Curves(
        "lambda-methods",
        "Effective lambda by experiment",
        caption,
        "round",
        "lambda",
        tuple(lines),
        "log",
        layout="panels",
    )


def traces(run: ReportedRun) -> Curves:
    """Effective lambda solid, lambda* dashed in the same colour, limits dotted, findings as marks."""
    lines: list[Line] = []
    for value, look, what in TRACES:
        lines += [
            shown for captions in client_lines(run, value, look, what) if any_known((shown := on_log_scale(captions)).y)
        ]
    bounds, dates = limits(run), marks(run)
    captions = {
        "Solid: the effective lambda.": True,
        "Dashed: lambda*, the equilibrium of the rule.": any(line.style == "dashed" for line in lines),
        "In the colour of the text: what bounds it.": bounds,
        "A diamond is where the doctor dates a finding.": dates,
    }
    caption = " ".join(sentence for sentence, is_drawn in captions.items() if is_drawn)
    return run_curves(run, "lambda", "Lambda of every client", caption, "lambda", (*lines, *bounds, *dates), "log")


def on_log_scale(shown: Line) -> Line:
    band = None if shown.band is None else (positive(shown.band[0]), positive(shown.band[1]))
    return replace(shown, y=positive(shown.y), band=band)


def limits(run: ReportedRun) -> list[Line]:
    """What a guard allows, and what momentum SGD can follow."""
    setting, clients = run.case.setting, clients_drawn(run)
    rounds = sorted({row.round for row in rows_of(run)})
    found = []
    caps = by_round(cap for client in clients for cap in caps_of(client, run))
    if caps:
        middle = tuple(map(median, caps.values()))
        found.append(named_line("cap of the guard", tuple(map(float, caps)), middle, "dotted"))
    if setting.mean_squared and setting.lr and setting.momentum is not None and setting.classes and setting.dimension:
        limit = stability_limit(setting.lr, setting.momentum, setting.classes, setting.dimension)
        if max((row.lambda_felt or 0 for row in rows_of(run)), default=0) > limit / 100:
            limits = tuple(limit / weight_at(run, index) for index in rounds)
            found.append(named_line("SGD limit", tuple(float(round_number(r)) for r in rounds), limits, "dashed"))
    return found


def weight_at(run: ReportedRun, round_: int) -> float:
    """The median of what the clients multiply L_b by: joint gradients raise the limit that SGD can follow."""
    weights = [
        outlook.local_weight(row.lambda_felt or 0.0, row.sigma_sq_local)
        for client in without_invalid_numbers(run.case).record.clients
        if (outlook := lambda_bounds_of(client, run.case.setting)) is not None
        for row in client.rounds
        if row.round == round_
    ]
    return median(weights) if weights else 1.0


def caps_of(client: ClientHistory, run: ReportedRun) -> Iterator[tuple[int, float]]:
    """(round, the effective lambda at which the guard of this client binds)"""
    outlook = lambda_bounds_of(client, run.case.setting)
    if outlook is None or outlook.cap is None:
        return
    for row in client.rounds:
        cap = outlook.cap(row.base_loss or 0.0, progress_of(client, row, run.case.setting))
        if isfinite(cap) and cap > 0:
            yield row.round, cap


def marks(run: ReportedRun) -> list[Line]:
    """A diamond on the trace of a client where the doctor dates a finding."""
    felt = {(p.client, row.round): row.lambda_felt for p in clients_drawn(run) for row in p.rounds}
    found = []
    for kind in MARKED:
        finding = run.diagnosis.finding(kind)
        evidence = finding.evidence if finding else ()
        dated = [shown for shown in evidence if felt.get((shown.client or 0, shown.round or 0))]
        x = tuple(float(round_number(shown.round or 0)) for shown in dated)
        y: PlotValues = tuple(felt[shown.client or 0, shown.round or 0] for shown in dated)
        if dated:
            found.append(Line(kind, x, y, INK, "marks"))
    return found


def lambda_table(runs: list[ReportedRun]) -> Table:
    """Every client of the runs that are drawn."""
    rows = (
        {
            "run": titled(run),
            "client": client.site,
            "first effective": client.rounds[0].lambda_felt,
            "last effective": client.rounds[-1].lambda_felt,
            "last lambda*": client.rounds[-1].lambda_star,
            "largest raw": max((row.lambda_raw for row in client.rounds if row.lambda_raw is not None), default=None),
            "median |log(lambda/lambda*)|": run.diagnosis.distances.get(client.client),
        }
        for run in runs
        for client in clients_drawn(run)
    )
    note = "Effective: the lambda that weights the loss; raw: before annealing."
    return Table.from_rows("lambda", "Lambda by client", rows, note, seeds=seeds_of(runs), folded=True)


def by_round_table(runs: list[ReportedRun]) -> Table:
    """Lambda of every client and round, with the label entropy of the client and the fused accuracy of the round."""
    rows = [
        {
            "run": titled(run),
            "client": client.site,
            "round": round_number(row.round),
            "entropy (bits)": dict(enumerate(run.result.partition.entropy)).get(client.client),
            "raw lambda": row.lambda_raw,
            "s(p)": row.schedule_factor,
            "effective lambda": row.lambda_felt,
            "fused accuracy": run.record.fused.get(row.round),
            **({} if row.lambda_printed is None else {PRINTED: row.lambda_printed}),
        }
        for run in runs
        for client in run.clients
        for row in client.rounds
        if row.lambda_raw is not None or row.lambda_felt is not None
    ]
    note = "s(p) is the annealing factor of the round; the effective lambda weights the alignment loss."
    return Table.from_rows(
        "lambda-by-round", "Lambda by round and client", rows, note, seeds=seeds_of(runs), folded=True
    )


def losses(data: ReportData) -> Section:
    figures = [figure for run in data.shown for figure in (base(run), align(run)) if figure.lines]
    tables = (loss_table(data),) if figures else ()
    lead = "L_b is what a client learns from its own images, L_a its distance to the anchors; lambda* is their ratio."
    return Section("losses", "Losses", lead, tuple(figures), tables)


def base(run: ReportedRun) -> Curves:
    caption = "Mean over the last epoch of each round. It should fall and settle."
    lines = client_lines(run, lambda _, row: row.base_loss)
    return run_curves(run, "base-loss", "Base loss L_b", caption, "L_b", lines)


def align(run: ReportedRun) -> Curves:
    lines = (line for line in client_lines(run, lambda _, row: row.align_loss) if any_known(positive(line.y)))
    caption = "An L_a that falls by orders of magnitude is what makes a learned lambda explode."
    return run_curves(run, "align-loss", "Alignment loss L_a", caption, "L_a", lines, "log")


def loss_table(data: ReportData) -> Table:
    """The end of every client that is drawn: L_b, its parts, L_a."""
    rows = (
        {"run": run.title, "client": client.site, "L_b": last.base_loss, **last.terms, "L_a": last.align_loss}
        for run in data.shown
        for client in clients_drawn(run)
        if (last := client.rounds[-1]).base_loss is not None  # or it trains nothing
    )
    return Table.from_rows("losses", "Losses at the end", rows, seeds=seeds_of(data.shown), folded=True)


def training(data: ReportData) -> Section:
    """Both in one place: a loss that falls is why a lambda rises."""
    pull, fall = lambdas(data), losses(data)
    both = " and ".join(part.title for part in (pull, fall) if not part.empty).replace("and Losses", "and losses")
    lead = " ".join(part.lead for part in (pull, fall) if not part.empty) + data.not_shown
    tables = (*pull.tables, *fall.tables)
    return Section("training", both, lead, (*pull.figures, *fall.figures), tables, sheets=pull.sheets)
