"""What several rooms share is written in one file: the words of a verdict, the exit codes of the command line."""

import ast
from functools import cache
from pathlib import Path

import pytest

import mooring
from mooring.cli.arguments import FAILED, INTERRUPTED
from mooring.notes._study_record import ANSWERS
from mooring.notes._study_report import TONES
from mooring.reports import TONE_COLOURS

HOME = Path(mooring.__file__).parent


@cache
def constants(path):
    """Every constant that a file writes out, with its type: 1 is not True."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {(type(node.value), node.value) for node in nodes if isinstance(node, ast.Constant)}


def files_with(value, folder):
    """Where a constant is written out."""
    files = sorted((HOME / folder).rglob("*.py"))
    return [str(path.relative_to(HOME)) for path in files if (type(value), value) in constants(path)]


@pytest.mark.parametrize("word", ANSWERS)
def test_the_words_of_a_verdict_are_written_once(word):
    assert files_with(word, ".") == ["notes/_study_record.py"]


def test_exit_codes_are_written_once():
    assert files_with(INTERRUPTED, "cli") == ["cli/arguments.py"]
    verbs = {"cli/run.py", "cli/study.py", "cli/sweep.py"}
    assert not verbs & set(files_with(FAILED, "cli"))


def test_every_verdict_has_a_tone_and_a_colour():
    assert set(TONES) == set(ANSWERS)
    assert set(TONES.values()) == set(TONE_COLOURS)
