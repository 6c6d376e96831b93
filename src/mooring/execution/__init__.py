"""Run an experiment with all sites on this machine, and fuse the uploads of a finished run by other rules."""

from mooring.execution._forecast import RunForecast, forecast
from mooring.execution._judge_sites import judge_sites
from mooring.execution._other_fusions import FinishedRun, fuse, fusion_of
from mooring.execution._prepare import partitioned_data, prepare
from mooring.execution._run import run_experiment, run_folder_of

__all__ = [
    "FinishedRun",
    "RunForecast",
    "forecast",
    "fuse",
    "fusion_of",
    "judge_sites",
    "partitioned_data",
    "prepare",
    "run_experiment",
    "run_folder_of",
]
