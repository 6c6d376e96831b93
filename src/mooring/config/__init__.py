"""From YAML and the command line to one frozen experiment; the only room that knows yaml."""

from mooring.config._examples import example, example_summary, examples
from mooring.config._experiment import Experiment, job_of, named_method, with_paths
from mooring.config._features import same_features
from mooring.config._keys import (
    full_key,
    override_value,
    read_settings,
    reject_duplicates,
    short_key,
    short_spellings,
    tree_of_key,
)
from mooring.config._label import MethodLabel, folder_name
from mooring.config._note_words import METHOD_NOTE_WORDS, NOTE_WORDS
from mooring.config._parse import load, load_experiment_of_run, load_fusions, load_recorded, parse
from mooring.config._part_kinds import PART_KINDS, load_value
from mooring.config._plan import Plan, Point, check_plan, load_plan, parse_values, plan_of
from mooring.config._search import Choice, Search
from mooring.config._settings import (
    METHOD_DEFAULT,
    SECTIONS,
    SEE_BELOW,
    Setting,
    matching_keys,
    matching_settings,
    note_words,
    part_choices,
    settings_in,
    similar_word,
)
from mooring.config._tree import as_yaml, line_numbers, merge_trees, nested_tree, read_file
from mooring.config._trust import ALL_CODE, HOUSE_CODE, Trust, code_named_in, trusted_code_of
from mooring.config._user_parts import import_object

__all__ = [
    "ALL_CODE",
    "HOUSE_CODE",
    "METHOD_DEFAULT",
    "METHOD_NOTE_WORDS",
    "NOTE_WORDS",
    "PART_KINDS",
    "SECTIONS",
    "SEE_BELOW",
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
    "example",
    "example_summary",
    "examples",
    "folder_name",
    "full_key",
    "import_object",
    "job_of",
    "line_numbers",
    "load",
    "load_experiment_of_run",
    "load_fusions",
    "load_plan",
    "load_recorded",
    "load_value",
    "matching_keys",
    "matching_settings",
    "merge_trees",
    "named_method",
    "nested_tree",
    "note_words",
    "override_value",
    "parse",
    "parse_values",
    "part_choices",
    "plan_of",
    "read_file",
    "read_settings",
    "reject_duplicates",
    "same_features",
    "settings_in",
    "short_key",
    "short_spellings",
    "similar_word",
    "tree_of_key",
    "trusted_code_of",
    "with_paths",
]
