"""Reports on runs, sweeps and studies: one page for people, tables and figures for papers. Reads only."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mooring.config import HOUSE_CODE, Trust
from mooring.errors import ConfigError

if TYPE_CHECKING:
    from mooring.reports.formats import Format
    from mooring.reports.report_data import Extension
    from mooring.reports.section import Report


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
    from mooring.reports.formats import named_format

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
    from mooring.reports.compose import compose
    from mooring.reports.reading import collect_report_data
    from mooring.reports.report_data import NO_EXTENSION, looking_for

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
    from mooring.reports.formats import named_format

    chosen = named_format(format)  # a mistake is reported before anything is read
    return write_comparison(comparison([Path(folder) for folder in folders], trust, positive), chosen, out)


def comparison(
    folders: Sequence[Path],
    trust: Trust = HOUSE_CODE,
    positive: str | None = None,
    extension: "Extension | None" = None,
) -> "Report":
    """The report on these folders, not written yet."""
    from mooring.reports.compose import compose
    from mooring.reports.reading import gather_several
    from mooring.reports.report_data import NO_EXTENSION, looking_for

    if len(folders) < 2:
        raise ConfigError(["mooring compare takes two folders or more; for one there is mooring report"])
    more = extension or NO_EXTENSION
    return compose(looking_for(gather_several(folders, trust, more), positive), more)


def write_comparison(report: "Report", chosen: "Format", out: Path | str | None) -> Path:
    """Where it is written."""
    path = Path(chosen.name.replace("report", "comparison") if out is None else out)
    chosen.write(report, path)
    return path


__all__ = ["compare", "report"]
