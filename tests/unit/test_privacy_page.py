"""Every promise of a federation names tests that exist, and the figures of docs/privacy.md are those of the code."""

import re
from pathlib import Path

import pytest
from studies.poison import ATTACKS, SHIFTS

from mooring.uploads import _privacy as privacy
from mooring.uploads._privacy import Privacy

HOME = Path(__file__).parents[2]
PAGE = (HOME / "docs/privacy.md").read_text("utf-8")
SECURITY = (HOME / "docs/security.md").read_text("utf-8")
REPORT = (HOME / "studies/reports/poison.md").read_text("utf-8")
ROWS = [
    line
    for line in SECURITY.partition("## Promises of a federation")[2].partition("\n## ")[0].splitlines()
    if line[:2] == "| "
][1:]
PROMISES = {row.strip("| ").rsplit(" | ", 1)[0]: re.findall("`([^`]+)`", row.rsplit(" | ", 1)[1]) for row in ROWS}


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_names_tests_that_exist(promise):
    assert PROMISES[promise]
    for name in PROMISES[promise]:
        path, _, function = name.partition("::")
        text = (HOME / path).read_text("utf-8")
        assert re.search(rf"^ *def {function or 'test_'}", text, re.MULTILINE), name


def test_every_attack_and_every_shift_has_its_figures():
    """Both sets, even and skewed."""
    rows = [
        row.strip("| ").split(" | ")[:3]
        for row in REPORT.splitlines()
        if row.startswith(("| digits |", "| CIFAR-10 |"))
    ]
    named = [what for _, what, _ in rows]
    assert set(named) == {*ATTACKS, *SHIFTS}
    assert all(named.count(what) == 4 for what in named)


def test_the_figures_of_the_noise_are_those_of_the_code():
    assert f"sigma = {Privacy(3.0, 1e-5).sigma:.2f} for epsilon 3 and delta 0.00001" in PAGE
    shares = privacy.COUNTS, privacy.SUMS, privacy.SECOND
    assert "roots of {}, {} and {}".format(*shares) in PAGE
    assert f"({Privacy.__dataclass_fields__['size'].default} by default)" in PAGE
