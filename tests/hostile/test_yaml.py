"""Whatever a YAML file holds, the answer is one line: no file takes gigabytes, and none ends in a traceback."""

import json
import shutil
import sys
from itertools import pairwise

import pytest
from apart import answers

from mooring.config import as_yaml, load, load_plan
from mooring.config._plan import MOST_RUNS, Plan
from mooring.config._tree import DEEPEST, LARGEST_FILE, MOST_VALUES, parse_bounded, read_file
from mooring.errors import MOST_PROBLEMS, ConfigError
from mooring.methods import METHODS
from mooring.notes._plan import load_study
from mooring.record import RunFolder, write_result

LETTERS = "abcdefghijkl"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise(LETTERS)
)
HOSTILE = {
    "alias bomb": (BOMB, "refers to *a in line 2; aliases are not read"),
    "itself": ("a: &a [*a]", "refers to *a in line 1; aliases are not read"),
    "long number": ("seed: " + "9" * 200_000, "has a number of 200,000 digits in line 1"),
    "long hexadecimal": ("seed: 0x" + "f" * 5_000, "has a number of 5,002 digits in line 1"),
    "sexagesimal": ("seed: " + "1:" * 500 + "1", "has a number of 501 digits in line 1"),
    "no digits": ("seed: 0x_", "'0x_' is not a number"),
    "million digits": ("seed: " + "9" * 1_000_000, "is too large; an experiment or a sweep has at most 262,144 bytes"),
    "deep list": ("seed: " + "[" * 10_000, "nests deeper than 40 levels in line 1"),
    "deep mapping": ("seed: " + "{a: " * 10_000, "nests deeper than 40 levels in line 1"),
    "deep block": ("".join(" " * i + "a:\n" for i in range(500)), "nests deeper than 40 levels in line 40"),
    "no date": ("seed: 2001-99-99", "seed=2001-99-99: must be a whole number"),
    "date": ("seed: 2001-09-09", "seed=2001-09-09: must be a whole number"),
    "no timestamp": ("seed: !!timestamp x", "has the tag tag:yaml.org,2002:timestamp"),
    "no whole number": ("seed: !!int x", "has the tag tag:yaml.org,2002:int"),
    "many keys": ("".join(f"k{i}: 1\n" for i in range(200_000)), "is too large"),
    "many values": ("seed: [" + "1," * MOST_VALUES + "1]", "holds more than 10,000 values in line 1"),
    "a dot first": ("method: v7\nweight: .evil:X", "weight.kind=.evil:X: cannot be imported (not a valid name)"),
    "two dots": ("method: a..b:X", "method=a..b:X: cannot be imported (not a valid name)"),
    "a key of ours": ('partition: {"\\0inherited": 3}', "a character that is not text"),
    "half a character": ('out: "\\ud800"', "a character that is not text"),
    "many methods": ("method: [" + ",".join(["v7"] * 5_000) + "]", "method: names 5,000 methods; at most 100"),
    "no element": ("method: {client: {terms: {²: 3}}}", "method.client.terms.²=3: no such element"),
}


@pytest.mark.parametrize(("text", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_answered_in_one_line(text, told, tmp_path):
    path = tmp_path / "hostile.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set on Linux")
def test_no_hostile_file_takes_200_megabytes(tmp_path):
    for name, (text, _) in HOSTILE.items():
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    code = """
from pathlib import Path
from mooring.config import load
from mooring.errors import ConfigError
limit(200)
for path in sorted(Path().glob("*.yaml")):
    try:
        load(path)
    except ConfigError as error:
        print(path.stem)
"""
    assert answers(code, tmp_path) == sorted(HOSTILE)


@pytest.mark.parametrize(
    "verb", [["report"], ["doctor"], ["watch", "--once"], ["track", "--to=tensorboard"], ["fuse"], ["resume"]], ids=str
)
@pytest.mark.parametrize(
    "text", [BOMB, "method: [v4, v7]", "- 1", 'seed: "\\e[2J"'], ids=["bomb", "two", "list", "escape"]
)
def test_every_verb_that_reads_a_folder_answers_in_one_line(v12_run, tmp_path, cli, verb, text):
    folder = tmp_path / "run"
    shutil.copytree(v12_run, folder)
    (folder / "experiment.yaml").write_text(text)
    write_result(folder, RunFolder(v12_run).result)  # as somebody would who made the folder up
    code, _, err = cli(verb[0], folder, *verb[1:])
    if verb[0] == "track" and text in ("method: [v4, v7]", 'seed: "\\e[2J"'):
        assert code == 0  # it shows settings as they stand
        return
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "\x1b" not in err


def test_every_place_where_yaml_is_read_has_the_bounds(tmp_path):
    path = tmp_path / "bomb.yaml"
    path.write_text(BOMB)
    nested = tmp_path / "sweep.yaml"
    nested.write_text("experiment: bomb.yaml\nfactors: {seed: [1, 2]}")
    for read in (load, load_plan, load_study, read_file):
        with pytest.raises(ConfigError, match="aliases are not read"):
            read(path)
    for read in (
        lambda: load_plan(nested),
        lambda: load(None, ["seed=[&a 1, *a]"]),
        lambda: load_plan(None, ["method=v4,*v"]),
        lambda: Plan(("seed=[&a 1, *a]",)).experiment_at({}),
    ):
        with pytest.raises(ConfigError, match="aliases are not read"):
            read()


def test_of_many_mistakes_the_first_are_told_and_the_others_counted(tmp_path):
    for text in ("k{}: 1\n", "training: {{{}}}"):
        unknown = "".join(text.format(i) for i in range(4_000)) if "\n" in text else ""
        unknown = unknown or text.format(", ".join(f"k{i}: 1" for i in range(4_000)))
        path = tmp_path / "many.yaml"
        path.write_text(unknown)
        with pytest.raises(ConfigError) as caught:
            load(path)
        assert len(caught.value.problems) == MOST_PROBLEMS + 1
        assert "k0=1: unknown key; " in caught.value.problems[0]  # and what there is, or what lists it
        assert caught.value.problems[-1] == f"... and {4_000 - MOST_PROBLEMS:,} more"


def test_a_long_key_is_not_told_in_full():
    with pytest.raises(ConfigError) as caught:
        load(None, [f"{'x' * 100_000}=1"])
    assert len(str(caught.value)) < 600


def test_a_key_of_many_parts_is_one_line():
    with pytest.raises(ConfigError, match="has more than 40 parts"):
        load(None, ["a." * 50_000 + "a=1"])


def test_what_the_house_writes_is_far_within_the_bounds():
    for method in METHODS:
        (experiment,) = load(None, [f"method={method}", "out=somewhere"])
        text = as_yaml(experiment.tree())
        assert len(text) < LARGEST_FILE / 20
        assert parse_bounded(text) == json.loads(json.dumps(experiment.tree()))


def test_the_largest_sweep_can_be_read_again(tmp_path):
    plan = Plan((), {"seed": tuple(range(MOST_RUNS))})
    (tmp_path / "sweep.yaml").write_text(as_yaml(plan.tree()))
    assert len(read_file(tmp_path / "sweep.yaml")["factors"]["seed"]) == MOST_RUNS


def test_what_is_written_is_read_as_it_was():
    shared = [1, 2]
    deep = 1
    for _ in range(DEEPEST - 1):
        deep = [deep]
    for tree in (
        {"a": shared, "b": shared},
        ["5e-4", "1e5", "2001-09-09", "0x10", "null", "a #b", "*x", "=", "<<", "12:30", "\t", "\u2028"],
        [5e-4, 1e-300, -0.0, 2**64 - 1, True, None, ""],
        deep,
    ):
        assert parse_bounded(as_yaml(tree)) == tree
