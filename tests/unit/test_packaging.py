"""What pyproject.toml, constraints.txt, the Makefile and CI say of the same things agrees."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from mooring.record import environment
from mooring.version import VERSION

HOME = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
MAKEFILE = (HOME / "Makefile").read_text("utf-8")


def name_of(requirement):
    """`mkdocstrings[python]>=0.26` -> `mkdocstrings`"""
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_every_requirement_is_pinned_for_ci(extra):
    pinned = {name_of(line) for line in (HOME / "constraints.txt").read_text("utf-8").splitlines() if "==" in line}
    wanted = PROJECT["dependencies"] if extra is None else EXTRAS[extra]
    assert {name_of(requirement) for requirement in wanted} - pinned == set()


@pytest.mark.parametrize("extra", EXTRAS)
def test_no_requirement_stands_twice(extra):
    names = [name_of(requirement) for requirement in EXTRAS[extra]]
    assert len(names) == len(set(names))


def test_there_is_one_version_and_everybody_says_it(cli):
    assert PROJECT["version"] == VERSION
    assert cli("--version") == (0, f"mooring {VERSION}\n", "")
    assert environment().packages["mooring"] == VERSION
    assert f"\nversion: {VERSION}\n" in (HOME / "CITATION.cff").read_text("utf-8")


def test_make_test_installs_every_extra_and_the_demo_only_what_its_page_needs():
    demo, everything, where_it_can = re.findall(r"-e '\.\[(.*)\]'", MAKEFILE)
    assert demo == "report"
    assert where_it_can == "flower"
    assert sorted([*everything.split(","), where_it_can]) == sorted(EXTRAS)


def test_the_container_is_made_from_the_wheel_and_its_command_exists(cli):
    lines = re.sub(r"\\\n\s*", " ", (HOME / "Dockerfile").read_text("utf-8")).splitlines()
    orders = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    kept = (HOME / ".dockerignore").read_text("utf-8").split()
    assert kept == ["*", *(f"!{word}" for word in orders["COPY"].split()[:-1])]
    assert set(re.search(r"\[([\w,]+)\]\"", orders["RUN"])[1].split(",")) <= set(EXTRAS)
    assert orders["FROM"] == f"python:{PROJECT['requires-python'].removeprefix('>=')}-slim"
    program, *words = json.loads(orders["ENTRYPOINT"]) + json.loads(orders["CMD"])
    code, _, err = cli(*words)
    assert (program, code, "/model.mooring" in err) == ("mooring", 2, True)


def test_ci_is_make_test_and_nothing_else():
    lines = (HOME / ".ci/run").read_text("utf-8").splitlines()
    orders = [line for line in lines if line and not line.startswith("#")]
    assert orders == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make test"]
    assert re.findall(r"run: (.*)", (HOME / ".github/workflows/ci.yml").read_text("utf-8")) == ["bash .ci/run"]


def test_the_changelog_has_a_dated_and_short_section_for_this_version():
    text = (HOME / "CHANGELOG.md").read_text("utf-8")
    release = text.partition(f"## [{VERSION}] - 20")[2].partition("\n## ")[0]
    assert release
    assert len(release.splitlines()) <= 60
    assert [line for line in release.splitlines() if line.startswith("### ")] == [
        "### Added",
        "### Changed",
        "### Fixed",
        "### Numbers",
    ]
