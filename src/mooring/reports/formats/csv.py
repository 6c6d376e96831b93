"""One CSV file per table: numbers in full, means and standard deviations in columns of their own."""

import csv
from io import StringIO
from pathlib import Path

from mooring.reports.section import Report
from mooring.reports.table import Table
from mooring.store import write_atomically


def write_csv(report: Report, out: Path) -> None:
    for table in report.tables:
        write_atomically(out / f"{table.slug}.csv", csv_text(table).encode())


def csv_text(table: Table) -> str:
    flat, text = table.flat(), StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(flat.columns)
    writer.writerows(flat.rows)
    return text.getvalue()
