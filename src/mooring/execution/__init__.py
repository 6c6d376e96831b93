"""Run an experiment with all sites on this machine, and fuse the uploads of a finished run by other rules."""

from mooring.execution.other_fusions import FinishedRun, fuse
from mooring.execution.prepare import divided, prepare
from mooring.execution.run import run, run_folder_of

__all__ = ["FinishedRun", "divided", "fuse", "prepare", "run", "run_folder_of"]
