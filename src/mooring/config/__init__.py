"""From YAML and the command line to one frozen experiment; the only room that knows pydantic and yaml."""

from mooring.config.experiment import Experiment, named_method
from mooring.config.parse import load, load_fusions, parse, reload
from mooring.config.plan import Plan, load_plan
from mooring.config.tree import as_yaml

__all__ = ["Experiment", "Plan", "as_yaml", "load", "load_fusions", "load_plan", "named_method", "parse", "reload"]
