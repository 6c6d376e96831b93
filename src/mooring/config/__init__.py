"""From YAML and the command line to one frozen experiment; the only room that knows pydantic and yaml."""

from mooring.config.experiment import Experiment, as_yaml, load, named_method, parse

__all__ = ["Experiment", "as_yaml", "load", "named_method", "parse"]
