"""The formats of a report; each writes to a path."""

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
    """The name of its file or folder, and the function that writes it."""

    name: str
    write: Callable[[Report, Path], None]

    @property
    def comparison(self) -> Path:
        """Where a comparison is written by default."""
        return Path(self.name.replace("report", "comparison"))

    def save(self, report: Report, out: Path | str | None, default: Path) -> Path:
        """Write the report to `out`, or by default to `default`; return the path."""
        path = default if out is None else Path(out)
        self.write(report, path)
        return path


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
