"""Reports on runs, sweeps and studies: one page for people, tables and figures for papers. Reads only."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mooring.config import HOUSE_CODE, Trust
from mooring.errors import ConfigError
from mooring.reports._figure import Curves, Figure
from mooring.reports._formats import named_format
from mooring.reports._formats.terminal import show_report, show_table, show_tables
from mooring.reports._labels import label_runs
from mooring.reports._models import Findings, model_card, results, write_model_page
from mooring.reports._outcomes import chance, fusion_tables, on_what, run_tables, sweep_tables
from mooring.reports._reading import read_sweep
from mooring.reports._report_data import Additions, Extension, ReportData, Run
from mooring.reports._section import Card, Section, SummaryAnswer, Tone, VerdictLine
from mooring.reports._sections.accuracy import at_the_end, of_clients
from mooring.reports._sections.drawing import client_lines, has_values, in_place
from mooring.reports._sections.setup import flattened
from mooring.reports._sections.training import logged
from mooring.reports._table import Cell, Plot, PlottedLine, Quoted, Spread, Table

if TYPE_CHECKING:
    from mooring.reports._formats import Format
    from mooring.reports._report_data import Extension
    from mooring.reports._section import Report


def report(
    folder: Path | str,
    format: str = "html",  # noqa: A002
    out: Path | str | None = None,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: "Extension | None" = None,
) -> Path:
    """Write the report on a folder and return its path; by default inside the folder.

    `trust`: whose code may be imported because the folder names it; `ALL_CODE` for a folder of your own. `positive`:
    the class whose sensitivity, specificity and AUC are reported; of two classes it is the second. `extension`: more
    kinds of folders and more sections.
    """
    from mooring.reports._formats import named_format

    chosen = named_format(format)  # a mistake is reported before anything is read
    path = Path(folder) / chosen.name if out is None else Path(out)
    chosen.write(report_on(Path(folder), trust, positive, extension), path)
    return path


def report_on(
    folder: Path,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: "Extension | None" = None,
) -> "Report":
    """What a report on this folder says, not written yet."""
    from mooring.reports._compose import compose
    from mooring.reports._reading import collect_report_data
    from mooring.reports._report_data import NO_EXTENSION, looking_for

    more = extension or NO_EXTENSION
    return compose(looking_for(collect_report_data(folder, trust, more), positive), more)


def compare(
    folders: Sequence[Path | str],
    format: str = "html",  # noqa: A002
    out: Path | str | None = None,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
) -> Path:
    """Write the same report on runs that were made separately; by default `comparison.html` in the current folder."""
    from mooring.reports._formats import named_format

    chosen = named_format(format)  # a mistake is reported before anything is read
    return write_comparison(comparison([Path(folder) for folder in folders], trust, positive), chosen, out)


def comparison(
    folders: Sequence[Path],
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: "Extension | None" = None,
) -> "Report":
    """The report on these folders, not written yet."""
    from mooring.reports._compose import compose
    from mooring.reports._reading import gather_several
    from mooring.reports._report_data import NO_EXTENSION, looking_for

    if len(folders) < 2:
        raise ConfigError(["mooring compare takes two folders or more; for one there is mooring report"])
    more = extension or NO_EXTENSION
    return compose(looking_for(gather_several(folders, trust, more), positive), more)


def write_comparison(report: "Report", chosen: "Format", out: Path | str | None) -> Path:
    """Where it is written."""
    path = Path(chosen.name.replace("report", "comparison") if out is None else out)
    chosen.write(report, path)
    return path


__all__ = [
    "Additions",
    "Card",
    "Cell",
    "Curves",
    "Extension",
    "Figure",
    "Findings",
    "Plot",
    "PlottedLine",
    "Quoted",
    "ReportData",
    "Run",
    "Section",
    "Spread",
    "SummaryAnswer",
    "Table",
    "Tone",
    "VerdictLine",
    "at_the_end",
    "chance",
    "client_lines",
    "compare",
    "flattened",
    "fusion_tables",
    "has_values",
    "in_place",
    "label_runs",
    "logged",
    "model_card",
    "named_format",
    "of_clients",
    "on_what",
    "read_sweep",
    "report",
    "results",
    "run_tables",
    "show_report",
    "show_table",
    "show_tables",
    "sweep_tables",
    "write_model_page",
]
