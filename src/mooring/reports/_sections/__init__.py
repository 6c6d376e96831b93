"""The sections of a report, in the order in which they are read; each is a function of the report's data."""

from collections.abc import Callable

from mooring.reports._report_data import ReportData
from mooring.reports._section import Section
from mooring.reports._sections.accuracy import accuracy
from mooring.reports._sections.classes import classes
from mooring.reports._sections.costs import costs
from mooring.reports._sections.findings import findings
from mooring.reports._sections.fusions import fusions
from mooring.reports._sections.partition import partition
from mooring.reports._sections.prototypes import prototypes
from mooring.reports._sections.sites import sites
from mooring.reports._sections.training import training

SECTIONS: tuple[Callable[[ReportData], Section], ...] = (
    accuracy,
    sites,
    training,
    prototypes,
    partition,
    classes,
    fusions,
    costs,
    findings,
)

__all__ = ["SECTIONS"]
