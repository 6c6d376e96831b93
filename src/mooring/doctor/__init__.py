"""The doctor: reads what happened and says what is wrong, with evidence and a remedy. Never writes."""

from mooring.doctor._case import (
    Case,
    case_of,
    case_of_log,
    lambda_bounds_of,
    progress_of,
    read_case,
    without_invalid_numbers,
)
from mooring.doctor._examine import examine
from mooring.doctor._finding import Diagnosis, Finding, FindingEvidence
from mooring.doctor._fusion_checks import shares_by_class

__all__ = [
    "Case",
    "Diagnosis",
    "Finding",
    "FindingEvidence",
    "case_of",
    "case_of_log",
    "examine",
    "lambda_bounds_of",
    "progress_of",
    "read_case",
    "shares_by_class",
    "without_invalid_numbers",
]
