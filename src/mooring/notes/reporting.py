"""What the lab notes add to reports: folders of studies, and a section on imported runs."""

from pathlib import Path

from mooring import reports
from mooring.config import HOUSE_CODE, Trust
from mooring.notes.imported_section import imported
from mooring.notes.study_record import STUDY
from mooring.notes.study_report import study_report
from mooring.reports.report_data import Extension

NOTES = Extension(readers={STUDY: study_report}, sections=(imported,))


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
    return reports.report(folder, format, out, trust, positive, NOTES)
