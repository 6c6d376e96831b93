"""Experiments to start from: each loads as it is printed, and a wheel has them all."""

import tomllib
from pathlib import Path

import pytest

from mooring.config import load
from mooring.config._examples import HERE, example, example_summary, examples

HOME = Path(__file__).parents[2]


def test_every_file_of_the_repository_can_be_had():
    assert [*examples()] == sorted(file.stem for file in (HOME / "configs").glob("*.yaml"))


@pytest.mark.parametrize("name", examples())
def test_what_is_printed_can_be_run(name, cli, tmp_path):
    code, out, err = cli("config", name)
    (tmp_path / "my.yaml").write_text(out, "utf-8")
    overrides = ["data.root=images"] if "data.root=" in example_summary(out) else []
    assert (code, err) == (0, "")
    assert load(tmp_path / "my.yaml", overrides)


def test_the_list_says_of_each_what_it_is(cli):
    code, out, _ = cli("config")
    told = " ".join(out.split())
    assert code == 0
    assert all(name in told and example_summary(example(name)).split()[0] in told for name in examples())


def test_a_wrong_name_is_told_with_the_nearest(cli):
    code, out, err = cli("config", "cifar1")
    assert (code, out) == (2, "")
    assert err == "error: config cifar1: unknown example; did you mean 'cifar10'?\n"


def test_a_wheel_holds_them_where_they_are_looked_for_first():
    included = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert HERE.parents[1] / included["force-include"]["configs"] == HERE / "files"
