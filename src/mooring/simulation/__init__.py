"""From an experiment to its record, all sites on this machine; and other fusions of what was recorded."""

from mooring.simulation.other_fusions import FinishedRun, fuse
from mooring.simulation.prepare import divided, prepare
from mooring.simulation.run import run, run_folder_of

__all__ = ["FinishedRun", "divided", "fuse", "prepare", "run", "run_folder_of"]
