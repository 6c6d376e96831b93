"""One figure or table of a report in a file of its own, for a paper."""

from pathlib import Path

from mooring.config import ALL_CODE
from mooring.reports import report_on, save_figure, save_table

TABLE_FORMATS = {".tex": "latex", ".md": "markdown", ".csv": "csv"}


def figure_file(folder: Path, name: str, out: Path | str) -> Path:
    """The format follows from the ending."""
    out = Path(out)
    save_figure(report_on(folder, ALL_CODE), name, out.suffix.removeprefix("."), out, folder)
    return out


def table_file(folder: Path, name: str, out: Path | str) -> Path:
    """The format follows from the ending; LaTeX for `\\input`, without document, caption or float."""
    out = Path(out)
    return save_table(report_on(folder, ALL_CODE), name, TABLE_FORMATS.get(out.suffix, out.suffix), out, folder)
