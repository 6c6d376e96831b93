"""One HTML file."""

from pathlib import Path

from mooring.reports.section import Report
from mooring.store import write_atomically


def write_html(report: Report, out: Path) -> None:
    from mooring.reports.page import page

    write_atomically(out, page(report).encode())
