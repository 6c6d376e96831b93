"""The formats of a report, in one visible place: each writes to a path and says where."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mooring.errors import ConfigError, nearest
from mooring.reports._formats.excel import write_excel
from mooring.reports._formats.html import write_html
from mooring.reports._formats.latex import write_latex
from mooring.reports._formats.pictures import write_figures, write_pdfs
from mooring.reports._formats.terminal import write_terminal
from mooring.reports._formats.text import write_csv, write_markdown
from mooring.reports._section import Report


@dataclass(frozen=True)
class Format:
    """What it is called by default, and who writes it."""

    name: str
    write: Callable[[Report, Path], None]


FORMATS: dict[str, Format] = {
    "html": Format("report.html", write_html),
    "csv": Format("report-csv", write_csv),
    "markdown": Format("report.md", write_markdown),
    "terminal": Format("report.txt", write_terminal),
    "latex": Format("report.tex", write_latex),
    "excel": Format("report.xlsx", write_excel),
    "figures": Format("report-figures", write_figures),
    "pdf": Format("report-pdf", write_pdfs),
}


def named_format(name: str) -> Format:
    """By its name, or by the ending of its files: `excel` and `xlsx` are the same."""
    endings = {Path(one.name).suffix.removeprefix("."): one for one in FORMATS.values()}
    chosen = FORMATS.get(name) or endings.get(name)
    if chosen is None:
        raise ConfigError([f"format={name}: unknown; {nearest(name, FORMATS)}"])
    return chosen
