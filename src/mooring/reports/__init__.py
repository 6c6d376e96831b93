"""Reports on runs, sweeps and studies: one page for people, tables and figures for papers. Reads only."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mooring.config import HOUSE_CODE, Trust
from mooring.errors import ConfigError
from mooring.reports._accuracies import baseline_sentence, describe_test_images
from mooring.reports._compose import compose
from mooring.reports._data_check import write_data_check
from mooring.reports._explanations import ExplanationsWritten, write_explanations
from mooring.reports._figure import PALETTE, Curves, Figure
from mooring.reports._formats import named_format
from mooring.reports._formats.single import save_figure, save_table
from mooring.reports._formats.terminal import TONE_COLOURS, show_report, show_table, show_tables
from mooring.reports._labels import label_runs
from mooring.reports._model_sections import Findings, assessment_section, limits_section
from mooring.reports._models import model_card, model_page, write_model_page
from mooring.reports._outcomes import fusion_tables, run_tables, sweep_tables
from mooring.reports._reading import collect_report_data, collect_several, read_sweep
from mooring.reports._report_data import NO_EXTENSION, Additions, Extension, ReportData, ReportedRun, with_positive
from mooring.reports._section import Card, Report, Section, SummaryAnswer, Tone, VerdictLine
from mooring.reports._sections.accuracy import client_accuracy_curves, final_accuracies
from mooring.reports._sections.drawing import any_known, client_lines, quantile_caption
from mooring.reports._sections.setup import setting_cells
from mooring.reports._sections.training import on_log_scale
from mooring.reports._table import Cell, Plot, PlottedLine, Quoted, Spread, Table
from mooring.reports._verdict import verdict_on


def report(
    folder: Path | str,
    format: str = "html",  # noqa: A002
    out: Path | str | None = None,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: Extension = NO_EXTENSION,
    across_tracks: bool = False,
) -> Path:
    """Write the report on a folder and return its path; by default inside the folder.

    `trust`: whose code may be imported because the folder names it; `ALL_CODE` for a folder of your own. `positive`:
    the class whose sensitivity, specificity and AUC are reported; of two classes it is the second. `extension`: more
    kinds of folders and more sections. `across_tracks`: compare experiments of different tracks, and say so.
    """
    chosen = named_format(format)  # a mistake is reported before anything is read
    return chosen.save(
        report_on(Path(folder), trust, positive, extension, across_tracks), out, Path(folder) / chosen.name
    )


def report_on(
    folder: Path,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: Extension = NO_EXTENSION,
    across_tracks: bool = False,
) -> Report:
    """The report on a folder, not written yet."""
    data = replace(collect_report_data(folder, trust, extension), across_tracks=across_tracks)
    return compose(with_positive(data, positive), extension)


def compare(
    folders: Sequence[Path | str],
    format: str = "html",  # noqa: A002
    out: Path | str | None = None,
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
) -> Path:
    """Write one report on runs that were made separately; by default `comparison.html` in the current folder."""
    chosen = named_format(format)
    return chosen.save(comparison(list(map(Path, folders)), trust, positive), out, chosen.comparison)


def comparison(
    folders: Sequence[Path],
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: Extension = NO_EXTENSION,
    across_tracks: bool = False,
) -> Report:
    """The report on several folders, not written yet."""
    if len(folders) < 2:
        raise ConfigError(["mooring compare takes two folders or more; for one there is mooring report"])
    data = replace(collect_several(folders, trust, extension), across_tracks=across_tracks)
    return compose(with_positive(data, positive), extension)


__all__ = [
    "PALETTE",
    "TONE_COLOURS",
    "Additions",
    "Card",
    "Cell",
    "Curves",
    "ExplanationsWritten",
    "Extension",
    "Figure",
    "Findings",
    "Plot",
    "PlottedLine",
    "Quoted",
    "ReportData",
    "ReportedRun",
    "Section",
    "Spread",
    "SummaryAnswer",
    "Table",
    "Tone",
    "VerdictLine",
    "any_known",
    "assessment_section",
    "baseline_sentence",
    "client_accuracy_curves",
    "client_lines",
    "compare",
    "describe_test_images",
    "final_accuracies",
    "fusion_tables",
    "label_runs",
    "limits_section",
    "model_card",
    "model_page",
    "named_format",
    "on_log_scale",
    "quantile_caption",
    "read_sweep",
    "report",
    "report_on",
    "run_tables",
    "save_figure",
    "save_table",
    "setting_cells",
    "show_report",
    "show_table",
    "show_tables",
    "sweep_tables",
    "verdict_on",
    "write_data_check",
    "write_explanations",
    "write_model_page",
]
