"""The lab notes: run their studies again and decide their claims; import logs and files of the published code."""

from mooring.notes._config_file import translate
from mooring.notes._imports import import_log, read_imports
from mooring.notes._page import verdict_counts
from mooring.notes._plan import ScaleName, Study, load_study, study_file, study_files, with_seeds
from mooring.notes._reporting import NOTES_EXTENSION, report
from mooring.notes._run_study import run_study
from mooring.notes._study_record import PrintedTable, StudyRecord, read_study
from mooring.notes._study_report import TONES

__all__ = [
    "NOTES_EXTENSION",
    "TONES",
    "PrintedTable",
    "ScaleName",
    "Study",
    "StudyRecord",
    "import_log",
    "load_study",
    "read_imports",
    "read_study",
    "report",
    "run_study",
    "study_file",
    "study_files",
    "translate",
    "verdict_counts",
    "with_seeds",
]
