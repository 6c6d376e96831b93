"""From YAML and the command line to one frozen experiment; the only room that knows yaml."""

from mooring.config._examples import example, example_summary, examples
from mooring.config._experiment import Experiment, job_of, named_method, with_paths
from mooring.config._features import same_features
from mooring.config._keys import layer_of_key, no_duplicates, short_key, spellings
from mooring.config._label import MethodLabel, folder_name
from mooring.config._note_words import NOTE_WORDS, OF_METHODS
from mooring.config._parse import load, load_fusions, load_recorded, parse, reload
from mooring.config._part_kinds import PART_KINDS, load_value
from mooring.config._plan import Plan, Point, check_plan, listed_values, load_plan, plan_of
from mooring.config._search import Choice, Search
from mooring.config._settings import (
    BELOW,
    OF_METHOD,
    SECTIONS,
    Setting,
    matching_keys,
    matching_settings,
    note_words,
    of_section,
    part_choices,
)
from mooring.config._tree import as_yaml, line_numbers, merge_trees, nested_tree, read_file
from mooring.config._trust import ALL_CODE, HOUSE_CODE, Trust, code_named_in, code_of
from mooring.config._user_parts import import_object

__all__ = [
    "ALL_CODE",
    "BELOW",
    "HOUSE_CODE",
    "NOTE_WORDS",
    "OF_METHOD",
    "OF_METHODS",
    "PART_KINDS",
    "SECTIONS",
    "Choice",
    "Experiment",
    "MethodLabel",
    "Plan",
    "Point",
    "Search",
    "Setting",
    "Trust",
    "as_yaml",
    "check_plan",
    "code_named_in",
    "code_of",
    "example",
    "example_summary",
    "examples",
    "folder_name",
    "import_object",
    "job_of",
    "layer_of_key",
    "line_numbers",
    "listed_values",
    "load",
    "load_fusions",
    "load_plan",
    "load_recorded",
    "load_value",
    "matching_keys",
    "matching_settings",
    "merge_trees",
    "named_method",
    "nested_tree",
    "no_duplicates",
    "note_words",
    "of_section",
    "parse",
    "part_choices",
    "plan_of",
    "read_file",
    "reload",
    "same_features",
    "short_key",
    "spellings",
    "with_paths",
]
