"""What the lab notes add to reports: folders of studies, and a section on imported runs."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from mooring import reports
from mooring.config import HOUSE_CODE, Trust
from mooring.notes._study_record import STUDY
from mooring.notes._study_report import study_report
from mooring.record import NotFinite, Origin
from mooring.reports import Cell, Extension, ReportData, ReportedRun, Section, Table, setting_cells

Origins = list[tuple[ReportedRun, Origin]]


def imported(data: ReportData) -> Section:
    """Where imported runs come from: how the method is known, what was inferred, what else the log prints."""
    runs = [(run, run.result.origin) for run in data.runs if run.result.origin is not None]
    if not runs:
        return Section("imported", "Imported", "")
    lead = "Read from logs of the published code, not run here. Missing values are empty; inferred values are listed."
    tables = (
        *(methods_table(runs), not_printed_table(runs), clients(runs)),
        *(accuracies(runs), not_finite(runs), printed(runs)),
    )
    return Section("imported", "Imported", lead, tables=tuple(table for table in tables if table.rows))


def methods_table(runs: Origins) -> Table:
    rows = tuple(
        (run.title, run.result.method, origin.identified, origin.version, origin.log, origin.server)
        for run, origin in runs
    )
    columns = ("run", "method", "method is", "version", "log", "accuracy shown")
    return Table("imported", "Where the runs come from", columns, rows)


def not_printed_table(runs: Origins) -> Table:
    """Everything that is not simply a printed number."""
    rows: list[tuple[Cell, ...]] = []
    for run, origin in runs:
        rows += [(run.title, "method", origin.identified, why) for why in origin.evidence]
        rows += [(run.title, name, "inferred", how) for name, how in origin.inferred.items()]
    return Table("imported-known", "What was inferred", ("run", "what", "known", "how"), tuple(rows))


def clients(runs: Origins) -> Table:
    """What a log prints of each client before it trains."""
    rows = tuple(
        (run.title, run.result.site(client.client), client.entropy, client.normalised_entropy, client.lambda_start)
        for run, origin in runs
        for client in origin.clients
    )
    columns = ("run", "client", "entropy (bits)", "entropy / log2 C", "first lambda")
    return Table("imported-clients", "Clients before they train", columns, rows)


def accuracies(runs: Origins) -> Table:
    """Where a log prints several accuracies a round, all of them."""
    rows = tuple(
        (run.title, server, round_, value if isfinite(value) else None)
        for run, origin in runs
        if len(origin.accuracies) > 1
        for server, by_round in origin.accuracies.items()
        for round_, value in by_round.items()
    )
    return Table("imported-accuracies", "All accuracies of a log", ("run", "server", "round", "accuracy"), rows)


def not_finite(runs: Origins) -> Table:
    """Numbers that are not finite; other tables leave them empty."""
    rows = tuple(row for run, origin in runs for row in by_quantity(run, origin.not_finite))
    columns = ("run", "quantity", "client", "value", "from round", "times")
    return Table("imported-not-finite", "Numbers that are not finite", columns, rows)


def by_quantity(run: ReportedRun, found: tuple[NotFinite, ...]) -> Iterator[tuple[Cell, ...]]:
    for key in dict.fromkeys((one.quantity, one.client, one.value) for one in found):
        same = [one.round for one in found if (one.quantity, one.client, one.value) == key]
        quantity, client, value = key
        yield run.title, quantity, client, value, min(same), len(same)


def printed(runs: Origins) -> Table:
    rows = tuple((run.title, key, value) for run, origin in runs for key, value in setting_cells(origin.config) if key)
    return Table("imported-settings", "Settings as the logs print them", ("run", "key", "value"), rows)


NOTES_EXTENSION = Extension(readers={STUDY: study_report}, sections=(imported,))


def report(
    folder: Path | str,
    format: str = "html",  # noqa: A002
    out: Path | str | None = None,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
) -> Path:
    """Write the report on a folder (a run, a sweep or a study) and return its path; by default inside the folder.

    `trust`: whose code may be imported because the folder names it; `ALL_CODE` for a folder of your own. `positive`:
    the class whose sensitivity, specificity and AUC are reported; of two classes it is the second.

    >>> from mooring import report
    >>> report("runs/v12", format="markdown").name
    'report.md'
    """
    return reports.report(folder, format, out, trust, positive, NOTES_EXTENSION)
