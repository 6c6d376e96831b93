"""From an experiment to its record, all sites on this machine; and other fusions of what was recorded."""

from mooring.simulation.prepare import divided, prepare
from mooring.simulation.refuse import FinishedRun, fuse
from mooring.simulation.run import folder_of, run

__all__ = ["FinishedRun", "divided", "folder_of", "fuse", "prepare", "run"]
