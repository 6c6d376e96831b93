from importlib.metadata import version
from pathlib import Path

import pytest
from benchmarks.page import BENCHMARKS, machine, sections, write
from benchmarks.process import apart, cpu_seconds
from benchmarks.table import Goal, Table

from mooring.version import VERSION


@pytest.mark.parametrize(
    ("measured", "at_most", "met"), [(2.0, False, True), (1.9, False, False), (2.0, True, True), (2.1, True, False)]
)
def test_a_goal_is_met_on_its_own_side(measured, at_most, met):
    goal = Goal("speed", 2.0, measured, at_most, "the reason")
    assert goal.met is met
    assert ("not met" in goal.line()) is not met
    assert ("the reason" in goal.line()) is not met


def test_a_table_is_markdown_with_its_goals():
    page = Table("Title", "About.", ("a", "b"), [("x", 0.12345), ("y", 1234.5)], [Goal("fast", 1.0, 3.0)]).markdown()
    assert "| x | 0.123 |\n| y | 1234 |\n\n- fast: 3.00 (goal >= 1.00)" in page


def test_work_in_a_process_of_its_own_hands_over_its_value_and_its_memory():
    value, peak, growth = apart(sum, (1, 2, 3))
    assert value == 6
    assert peak > growth >= 0


def test_processor_time_counts_the_work_of_children():
    before = cpu_seconds()
    apart(sum, range(1_000_000))
    assert cpu_seconds() > before


def test_the_page_names_machine_and_versions_and_no_place():
    said = machine()
    assert "cores" in said
    assert f"mooring {VERSION}, torch {version('torch')}" in said
    assert str(Path.cwd()) not in said
    assert len(BENCHMARKS) == 13


def test_one_section_is_replaced_and_the_others_stay(tmp_path):
    page = tmp_path / "performance.md"
    for name, text in (("naive", "old"), ("clients", "many"), ("roofline", "first"), ("naive", "new")):
        write(name, text, page)
    kept = {name: text.strip() for name, text in sections(page.read_text()).items()}
    assert kept == {"roofline": "first", "naive": "new", "clients": "many"}
    assert list(kept) == ["roofline", "naive", "clients"]
