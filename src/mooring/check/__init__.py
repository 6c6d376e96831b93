"""Is a folder of images sound? Damaged files, misspelt classes, copies, and copies across the split."""

from mooring.check._check import DataCheck, check_folder, check_sites_together
from mooring.check._findings import DataFinding
from mooring.check._spelling import propose_spelling
from mooring.check._statistics import LEAST, SiteStatistics

__all__ = [
    "LEAST",
    "DataCheck",
    "DataFinding",
    "SiteStatistics",
    "check_folder",
    "check_sites_together",
    "propose_spelling",
]
