"""The tables that end `mooring run`, `fuse` and `sweep`. They use results only: no folder is read again."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from mooring.config import MethodLabel, Plan
from mooring.data import SOURCES, Source
from mooring.fusion import head_cells
from mooring.methods import TRACKS
from mooring.record import FusionRecord, Result, RunResult, positive_label
from mooring.reports._accuracies import (
    INTERVAL,
    accuracy_interval,
    baseline_sentence,
    describe_test_images,
    difference_interval,
    metric_cells,
    one_class_table,
)
from mooring.reports._sections.comparison import verdict
from mooring.reports._table import Cell, Table, spread
from mooring.sweeps import Factors, SummaryRow, SweepTables
from mooring.wording import number, plural, round_number, setting, size

EXPECTED = "expected: from the sums alone, to compare heads; solver=auto takes the first"
VALIDATED = "validation: on the server's own images; solver=auto takes the first that is best on them"
HEAD_METRICS = ("accuracy", INTERVAL, "ECE")
WIDEST = 24  # characters of a method with its changes


def run_tables(
    labels: Sequence[MethodLabel], results: Sequence[Result], tracks: Sequence[str], positive: str | None = None
) -> list[Table]:
    """A table for each track, one line per run: accuracy with its interval, local-only, size of the uploads."""
    positive_label(results[0].classes, positive)  # a class that does not exist is an error
    names, notes = short_names(labels), "\n".join(unusual(results))
    rows = [
        {
            "method": name,
            **metric_cells([result.metrics], result.test_images),
            "local-only": result.last.accuracy_alone,
            "upload": size(result.upload_bytes or 0),
        }
        for name, result in zip(names, results, strict=True)
    ]
    found = [
        Table.from_rows(
            f"results-{track}", track, [row for row, own in zip(rows, tracks, strict=True) if own == track], notes
        )
        for track in TRACKS
        if track in tracks
    ]
    lines = [({"method": name}, [result]) for name, result in zip(names, results, strict=True)]
    return [*found, *one_class_table(lines, positive)]


def unusual(results: Sequence[Result]) -> Iterator[str]:
    """What a reader would not expect: part of an official test set, local-only on fewer images, one seed each."""
    first = results[0]
    official = SOURCES.get(first.dataset, Source).official_test
    if official not in (None, first.test_images):
        yield f"accuracy on {describe_test_images(first)}"
    yield from dict.fromkeys(f"local-only: on {images}" for result in results if (images := result.local_test_images))
    if len(results) > 1:
        yield "no settled winner by one seed; mooring sweep compares over several"


def short_names(labels: Sequence[MethodLabel]) -> list[str]:
    """What fits into a column: `fedavg-1 + 4 changes`. Equal names are numbered."""
    names = [label.short(WIDEST) for label in labels]
    numbers = {name: count() for name in names}
    return [f"{name} ({next(numbers[name]) + 1})" if names.count(name) > 1 else name for name in names]


def one_seed(found: Result | FusionRecord) -> str:
    return f"n = 1 (training seed {found.seeds.training}, split seed {found.seeds.split}), interval by Wilson"


def fusion_tables(rows: Sequence[FusionRecord], delivered: int, trained: Result) -> list[Table]:
    """A table for each track, one line per rule, best first: metrics, what clients upload, what the server spends."""
    if not rows:
        return []
    first = rows[0]
    who = f"{len(first.clients)} of {delivered} clients" if len(first.clients) < delivered else "all clients"
    where = f"{first.method}: accuracy on {describe_test_images(trained)}; round {round_number(first.round)}, {who}"
    settled = " No settled winner by one run." if len(rows) > 1 else ""
    note = f"{where}; {one_seed(first)}\n{baseline_sentence(trained, number)}{settled}"
    if all(row.head is not None for row in rows) and len(rows) > 1:
        validated = all(row.validation_accuracy is not None for row in rows)
        measured = [row.validation_accuracy if validated else row.expected_accuracy for row in rows]
        best_first = sorted(range(len(rows)), key=lambda at: -(measured[at] or 0.0))
        leaders = [rows[at] for at in best_first]
        said = f"{note}\n{VALIDATED if validated else EXPECTED}"
        return [Table.from_rows("heads", "Heads from the same sums", map(head_row, leaders), said)]
    by_accuracy = sorted(rows, key=lambda row: -row.accuracy)
    by_track = {track: [row for row in by_accuracy if row.track == track] for track in TRACKS}
    return [
        Table.from_rows(f"fusions-{track}", track, map(fusion_cells, same), note)
        for track, same in by_track.items()
        if same
    ]


def fusion_cells(row: FusionRecord) -> dict[str, Cell]:
    return {
        "fusion": row.fusion,
        **metric_cells([row.metrics], row.test_images),
        "upload": size(row.upload_bytes or 0),
        "server": f"{row.server_seconds:.2f} s",
    }


def head_row(row: FusionRecord) -> dict[str, Cell]:
    """One head of several over the same sums."""
    return {
        **head_cells(row.head or {}),
        "expected": row.expected_accuracy,
        **({} if row.validation_accuracy is None else {"validation": row.validation_accuracy}),
        **{name: cell for name, cell in metric_cells([row.metrics], row.test_images).items() if name in HEAD_METRICS},
        "server": f"{row.server_seconds:.2f} s",
    }


def sweep_tables(plan: Plan, tables: SweepTables, positive: str | None = None) -> list[Table]:
    """Means over seeds with their interval, best first; the difference from the baseline if there is one."""
    tables.positive_label(positive)  # a class that does not exist is an error

    def best_first(row: SummaryRow) -> tuple[int, float]:
        value = row.validation if plan.search else row.mean
        return -row.n if plan.search else 0, 1.0 if value is None else -value

    ordered = sorted(tables.summary, key=best_first)
    won = [lead.best for lead in tables.leads if lead.settled and not plan.search]
    notes = "\n".join(sweep_notes(plan, tables))
    found = []
    for track in (track for track in TRACKS if any(row.track == track for row in ordered)):
        same = [row for row in ordered if row.track == track]
        rows = [{**factor_cells(row.factors), **summary_cells(plan, row, tables.of(row))} for row in same]
        bold = frozenset((at, j) for at, row in enumerate(same) if row in won for j in range(len(rows[at])))
        found.append(Table.from_rows(f"results-{track}", track, rows, notes, bold=bold))
    return [*found, *one_class_table(((factor_cells(row.factors), tables.of(row)) for row in ordered), positive)]


def factor_cells(factors: Factors) -> dict[str, Cell]:
    """Every factor by the last word of its key, where no other factor has the same."""
    last = [factor.split(".")[-1] for factor in factors]
    titles = [word if last.count(word) == 1 else factor for word, factor in zip(last, factors, strict=True)]
    return dict(zip(titles, map(setting, factors.values()), strict=True))


def summary_cells(plan: Plan, row: SummaryRow, results: Sequence[RunResult]) -> Mapping[str, Cell]:
    accuracies = [result.metrics.accuracy for result in results]
    cells: dict[str, Cell] = {"validation": row.validation} if plan.search else {}
    cells |= {"accuracy": spread(accuracies), "n": row.n}
    cells[f"{INTERVAL}\nof the mean"] = accuracy_interval(accuracies, results[0].test_images if results else None)
    if plan.baseline:
        gap = None if plan.baseline in {f"{key}={value}" for key, value in row.factors.items()} else row.difference
        cells[f"minus\n{plan.baseline}"] = None if gap is None or gap.mean is None else f"{gap.mean:+.3f}"
        cells[f"{INTERVAL}\nof difference"] = None if gap is None else difference_interval(gap)
    return cells


def sweep_notes(plan: Plan, tables: SweepTables) -> list[str]:
    """The test images, the number of seeds, the baseline, and which combination has won."""
    known = [row.result for row in tables.results if row.result is not None]
    same = len({(result.dataset, result.test_images) for result in known}) == 1
    where = describe_test_images(known[0]) if same else "test images"
    runs = f"{len(known)} of {plural(len(tables.results), 'run')} finished"
    how = "interval by Student's t, of one seed or equal ones by Wilson over the images"
    return [
        *search_notes(plan, tables),
        f"accuracy on {where}; last round: mean ± standard deviation over n seeds, {how}; {runs}",
        *([baseline_sentence(known[0], number)] if known and known[0].metrics.confusion else []),
        *([] if plan.search else (f"{lead.best.track}: {verdict(lead, combination)}" for lead in tables.leads)),
    ]


def search_notes(plan: Plan, tables: SweepTables) -> list[str]:
    """What a search goes by, and how many trials it stopped."""
    if plan.search is None:
        return []
    stopped = sum(row.n < len(plan.seeds) for row in tables.summary) if plan.search.pruner != "none" else 0
    pruned = f"; {stopped} of {plural(len(tables.summary), 'trial')} stopped before the last seed" if stopped else ""
    return [f"sorted by validation accuracy, which the search optimises{pruned}"]


def combination(row: SummaryRow) -> str:
    return ", ".join(setting(value) for value in row.factors.values())
