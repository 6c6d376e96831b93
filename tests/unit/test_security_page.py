"""Every promise of docs/security.md names the tests that show it, and its limits are those of the code."""

import re
from pathlib import Path

import pytest

from mooring.config import _tree as bounded_yaml
from mooring.schema import AS_RECORDED

HOME = Path(__file__).parents[2]
PAGE = (HOME / "docs" / "security.md").read_text("utf-8")
ROWS = [
    line.strip("| ").rsplit(" | ", 1)
    for line in PAGE.partition("## Promises\n")[2].partition("\n## ")[0].splitlines()
    if line[:2] == "| "
]
PROMISES = {promise: re.findall("`([^`]+)`", shown) for promise, shown in ROWS[1:]}
TARGETS = re.findall(r"^(\w+):", (HOME / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_names_tests_that_exist(promise):
    assert PROMISES[promise]
    for name in PROMISES[promise]:
        if name.startswith("make "):
            assert name.removeprefix("make ") in TARGETS
        else:
            path = HOME / name
            files = [path] if path.suffix else sorted(path.glob("test_*.py"))
            assert files
            assert all(re.search(r"^def test_", file.read_text("utf-8"), re.MULTILINE) for file in files)


def test_what_is_shown_of_hostile_files_and_faults_is_promised():
    named = {HOME / name for names in PROMISES.values() for name in names}
    for folder in ("hostile", "faults"):
        for path in (HOME / "tests" / folder).glob("test_*.py"):
            assert {path, path.parent} & named, f"{path.name} shows what no promise says"


def test_the_limits_of_a_configuration_are_those_of_the_code():
    rows = dict(re.findall(r"^\| ([a-z ,]+) \| ([^|]+?) \|$", PAGE.partition("## Configuration")[2], re.MULTILINE))
    assert rows["size"] == f"{bounded_yaml.LARGEST_FILE // 1024} KiB"
    assert rows["values, keys included"] == f"{bounded_yaml.MOST_VALUES:,}"
    assert rows["digits of a whole number"] == str(bounded_yaml.LONGEST_WHOLE)
    assert rows["depth"].startswith(f"{bounded_yaml.DEEPEST} ")
    assert AS_RECORDED.largest == 2**53
    assert "A whole number beyond 2^53" in PAGE
