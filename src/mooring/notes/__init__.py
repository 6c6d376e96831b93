"""The lab notes: run their studies again and decide their claims; import logs and files of the published code."""

from mooring.notes._config_file import translate
from mooring.notes._imports import import_log, read_imports
from mooring.notes._page import verdict_counts
from mooring.notes._plan import ScaleName, Study, load_study, plan_file, plans, seeded
from mooring.notes._reporting import NOTES, report
from mooring.notes._run_study import run_study
from mooring.notes._study_record import PrintedTable, StudyRecord, read_study
from mooring.notes._study_report import TONES

__all__ = [
    "NOTES",
    "TONES",
    "PrintedTable",
    "ScaleName",
    "Study",
    "StudyRecord",
    "import_log",
    "load_study",
    "plan_file",
    "plans",
    "read_imports",
    "read_study",
    "report",
    "run_study",
    "seeded",
    "translate",
    "verdict_counts",
]
