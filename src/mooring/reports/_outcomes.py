"""The tables that end `mooring run`, `fuse` and `sweep`, from their results alone: no folder is read again."""

from collections.abc import Sequence
from itertools import count

from mooring.config import MethodLabel, Plan
from mooring.record import SECONDARY, FusionRecord, Metrics, PositiveClass, Result, positive_class, positive_label
from mooring.reports._accuracies import Sureness, guess_of, sure_of, tested_on
from mooring.reports._table import Cell, Table, spread
from mooring.sweep import Best, Factors, SummaryRow, SweepTables, of_class
from mooring.wording import interval_of, plural, setting, size

INTERVAL = "95 % interval"
HEADINGS = "ECE: calibration error; alone: mean of single clients; upload: of all together"
WIDEST = 24  # characters of a method with what was changed of it
TRACKS = ("trained from scratch", "frozen encoder", "public", "statistics only")


def run_tables(labels: Sequence[MethodLabel], results: Sequence[Result], positive: str | None = None) -> list[Table]:
    """One line per run: the fused accuracy with its interval, what the clients reach alone, and what it cost."""
    rows = tuple(
        (
            name,
            result.metrics.accuracy,
            interval_of(result.metrics.accuracy, result.test_images),
            *(metric.of(result.metrics) for metric in SECONDARY.values()),
            result.last.accuracy_alone,
            size(result.upload_bytes or 0),
        )
        for name, result in zip(short_names(labels), results, strict=True)
    )
    columns = ("method", "accuracy", INTERVAL, *(metric.title for metric in SECONDARY.values()), "alone", "upload")
    first = results[0]
    fewer = dict.fromkeys(images for result in results if (images := result.local_test_images))
    alone = "".join(f"; alone: on {images}" for images in fewer)
    notes = [
        f"{on_what(first.dataset, first.test_images)}; last round; {one_seed(first)}{alone}",
        chance(first.metrics, first.classes),
        HEADINGS,
        *(["no settled winner by one seed; mooring sweep compares over several"] if len(results) > 1 else []),
    ]
    return [Table("results", "Results", columns, rows, "\n".join(notes)), *one_class_of_runs(labels, results, positive)]


def short_names(labels: Sequence[MethodLabel]) -> list[str]:
    """What fits into a column: `fedavg-1 + 4 changes`; all of them are listed below the table, in the same order."""
    names = [label.short(WIDEST) for label in labels]
    numbers = {name: count() for name in names}
    return [f"{name} ({next(numbers[name]) + 1})" if names.count(name) > 1 else name for name in names]


def one_class_of_runs(labels: Sequence[MethodLabel], results: Sequence[Result], positive: str | None) -> list[Table]:
    """One class against all others, as medicine counts: the one that was named, or the second of two."""
    label = positive_label(results[0].classes, positive)
    if label is None:
        return []
    found = [positive_class(result.metrics, result.classes, label) for result in results]
    rows = tuple(
        (name, *rates_of(one, result), one.auc)
        for name, one, result in zip(short_names(labels), found, results, strict=True)
    )
    columns = ("method", "sensitivity", INTERVAL, "specificity", INTERVAL, "AUC")
    return [Table("one-class", "One class against all others", columns, rows, against_others(found[-1]))]


def rates_of(found: PositiveClass, result: Result) -> list[Cell]:
    """Sensitivity and specificity, each with its interval."""
    once = sum(map(sum, result.metrics.confusion)) == result.test_images  # and not once for every client
    rates = (found.sensitivity, found.specificity)
    return [cell for rate in rates for cell in (rate.share, interval_of(rate.share or 0.0, rate.n if once else None))]


def against_others(found: PositiveClass) -> str:
    """On how many images, and against what chance."""
    own, others = found.sensitivity.n, found.specificity.n
    return f"of {found.label!r}: {plural(own, 'image')} of it and {others:,} of others; AUC by chance 0.5"


def on_what(source: str | None, images: int | None) -> str:
    """accuracy on 360 test images: ..."""
    return f"accuracy on {tested_on(source or '', images)}"


def one_seed(found: Result | FusionRecord) -> str:
    return f"n = 1 (training seed {found.seeds.training}, split seed {found.seeds.split}), interval by Wilson"


def chance(metrics: Metrics, classes: Sequence[str]) -> str:
    """The majority-class baseline."""
    guess = guess_of(metrics, classes or [""] * len(metrics.confusion))
    if guess is None:
        return "chance level: unknown"
    how = f"always saying {guess.label!r}" if guess.label else "always saying the most frequent class"
    return f"chance level: {how} is right for {guess.share:.3f} of them"


def fusion_tables(rows: Sequence[FusionRecord], delivered: int, trained: Result) -> list[Table]:
    """A table for each track, one line per rule, best first: how good, what clients upload, what the server spends."""
    if not rows:
        return []
    columns = ("fusion", "accuracy", INTERVAL, *(metric.title for metric in SECONDARY.values()), "upload", "server")
    first = rows[0]
    who = f"{len(first.clients)} of {delivered} clients" if len(first.clients) < delivered else "all clients"
    where = f"{first.method}: {on_what(trained.dataset, first.test_images)}; round {first.round}, {who}"
    settled = "; no settled winner by one run" if len(rows) > 1 else ""
    note = f"{where}; {one_seed(first)}\n{chance(first.metrics, trained.classes)}{settled}"
    best_first = sorted(rows, key=lambda row: -row.accuracy)
    by_track = {track: [row for row in best_first if row.track == track] for track in TRACKS}
    return [
        Table(f"fusions-{track}", track, columns, tuple(map(fusion_cells, same)), note)
        for track, same in by_track.items()
        if same
    ]


def fusion_cells(row: FusionRecord) -> tuple[Cell, ...]:
    return (
        row.fusion,
        row.metrics.accuracy,
        interval_of(row.metrics.accuracy, row.test_images),
        *(metric.of(row.metrics) for metric in SECONDARY.values()),
        size(row.upload_bytes or 0),
        f"{row.server_seconds:.2f} s",
    )


def sweep_tables(plan: Plan, tables: SweepTables, positive: str | None = None) -> list[Table]:
    """Means over seeds with their interval, best first; the difference from the baseline if there is one."""
    factors = list(tables.summary[0].factors) if tables.summary else []
    compared = (f"minus\n{plan.baseline}", f"{INTERVAL}\nof difference") if plan.baseline else ()
    columns = (
        *(factor.split(".")[-1] for factor in factors),
        *(["validation"] if plan.search else []),
        *("accuracy", "n", f"{INTERVAL}\nof the mean", *compared),
    )

    def best_first(row: SummaryRow) -> float:
        value = row.validation if plan.search else row.mean
        return 1.0 if value is None else -value

    ordered = sorted(tables.summary, key=best_first)
    won = [lead.best for lead in tables.leads if lead.settled and not plan.search]
    bold = frozenset((at, j) for at, row in enumerate(ordered) if row.factors in won for j in range(len(columns)))
    rows = tuple(summary_cells(plan, tables, row) for row in ordered)
    table = Table("results", "Results", columns, rows, "\n".join(sweep_notes(plan, tables)), bold=bold)
    return [table, *one_class_over_seeds(tables, ordered, positive)]


def summary_cells(plan: Plan, tables: SweepTables, row: SummaryRow) -> tuple[Cell, ...]:
    accuracies = [result.metrics.accuracy for result in tables.of(row)]
    images = next((result.test_images for result in tables.of(row)), None)
    cells: list[Cell] = [setting(value) for value in row.factors.values()]
    cells += [row.validation] if plan.search else []
    cells += [spread(accuracies), row.n, interval_text(sure_of(accuracies, images))]
    if plan.baseline in {f"{factor}={value}" for factor, value in row.factors.items()}:
        cells += [None, None]
    elif (gap := row.difference) is not None:
        cells += [None if gap.mean is None else f"{gap.mean:+.3f}"]
        cells += [None if gap.low is None else f"{gap.low:+.3f} to {gap.high:+.3f}"]
    return tuple(cells)


def one_class_over_seeds(tables: SweepTables, rows: Sequence[SummaryRow], positive: str | None) -> list[Table]:
    """As medicine counts: the class that was named, or the second of two, as the first run that ended has them."""
    label = tables.positive_label(positive)
    if label is None:
        return []
    ended = (run.result for run in tables.results if run.result is not None)
    cells = tuple(
        (*map(setting, row.factors.values()), *medical_cells(list(of_class(tables.of(row), label)))) for row in rows
    )
    names = (factor.split(".")[-1] for factor in rows[0].factors)
    columns = (*names, "sensitivity", "specificity", "AUC", f"{INTERVAL}\nof the mean AUC")
    found = next(iter(of_class(ended, label)), None)
    note = f"{against_others(found)}; mean ± standard deviation over seeds" if found else ""
    return [Table("one-class", "One class against all others", columns, cells, note)]


def medical_cells(found: Sequence[PositiveClass]) -> list[Cell]:
    """Sensitivity, specificity, AUC and the interval of its mean."""
    auc = [one.auc for one in found if one.auc is not None]
    sensitivity, specificity = (one.sensitivity.share for one in found), (one.specificity.share for one in found)
    return [spread(sensitivity), spread(specificity), spread(auc), interval_text(sure_of(auc, None))]


def interval_text(sure: Sureness | None) -> str | None:
    return f"{sure.low:.3f}-{sure.high:.3f}" if sure else None


def sweep_notes(plan: Plan, tables: SweepTables) -> list[str]:
    """On which images, over how many seeds, against what chance, and which combination has won."""
    known = [row.result for row in tables.results if row.result is not None]
    images = {result.test_images for result in known}
    sources = {plan.experiment_at(point).data.source for point in plan.points()}
    where = on_what(sources.pop(), images.pop()) if len(sources) == len(images) == 1 else "accuracy on test images"
    runs = f"{len(known)} of {plural(len(tables.results), 'run')} finished"
    how = "interval by Student's t, of one seed or equal ones by Wilson over the images"
    return [
        *(["sorted by validation accuracy, which the search optimises"] if plan.search else []),
        f"{where}; last round: mean ± standard deviation over n seeds, {how}; {runs}",
        *([chance(known[0].metrics, known[0].classes)] if known and known[0].metrics.confusion else []),
        *([] if plan.search else map(verdict, tables.leads)),
    ]


def verdict(lead: Best[Factors]) -> str:
    """Settled only if the paired interval of the difference to every other one excludes 0."""
    nearest, gap = lead.nearest
    best, other = combination(lead.best), combination(nearest)
    if gap.mean is None:
        return f"no settled winner: {best} leads, and has no seed in common with {other}"
    if gap.low is None:
        return f"no settled winner: {best} leads {other} by {gap.mean:+.3f} with one seed alone"
    gap_text = f"{gap.mean:+.3f}, 95 % interval {gap.low:+.3f} to {gap.high:+.3f}, {plural(gap.pairs, 'pair')} of seeds"
    if lead.settled:
        return f"settled: {best} is better than every other, {other} the nearest ({gap_text})"
    return f"no settled winner: {best} leads {other} by {gap_text}"


def combination(factors: Factors) -> str:
    return ", ".join(setting(value) for value in factors.values())
