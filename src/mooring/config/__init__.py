"""From YAML and the command line to one frozen experiment; the only room that knows yaml."""

from mooring.config.client_job import job_of
from mooring.config.experiment import Experiment, named_method
from mooring.config.parse import load, load_fusions, load_recorded, parse, reload
from mooring.config.plan import Plan, load_plan
from mooring.config.tree import as_yaml
from mooring.config.trust import ALL_CODE, HOUSE_CODE, Trust, code_named_in, code_of

__all__ = [
    "ALL_CODE",
    "HOUSE_CODE",
    "Experiment",
    "Plan",
    "Trust",
    "as_yaml",
    "code_named_in",
    "code_of",
    "job_of",
    "load",
    "load_fusions",
    "load_plan",
    "load_recorded",
    "named_method",
    "parse",
    "reload",
]
