"""The sections of a report, in the order in which they are read; each is a function of the report's data."""

from collections.abc import Callable

from mooring.reports.report_data import ReportData
from mooring.reports.section import Section
from mooring.reports.sections.accuracy import accuracy
from mooring.reports.sections.classes import classes
from mooring.reports.sections.costs import costs
from mooring.reports.sections.findings import findings
from mooring.reports.sections.fusions import fusions
from mooring.reports.sections.partition import partition
from mooring.reports.sections.prototypes import prototypes
from mooring.reports.sections.training import training

SECTIONS: tuple[Callable[[ReportData], Section], ...] = (
    accuracy,
    training,
    prototypes,
    partition,
    classes,
    fusions,
    costs,
    findings,
)

__all__ = ["SECTIONS"]
