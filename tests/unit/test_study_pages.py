"""The short pages of the studies quote the generated reports: every number with a deviation is in the report."""

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
PAGES = sorted((HOME / "docs/studies").glob("[1-5]*.md"))
FIGURE = re.compile(r"-?\d[\d.e+-]*\s±\s\d[\d.e+-]*\d|-?\d[\d.e+-]*\s±\s\d")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_of_a_page_is_in_its_report(page):
    report = (HOME / "studies/reports" / page.name).read_text("utf-8")
    figures = {" ".join(found.split()) for found in FIGURE.findall(page.read_text("utf-8"))}
    known = {" ".join(found.split()).lstrip("-") for found in FIGURE.findall(report)}
    assert len(figures) > 10
    assert {figure.lstrip("-") for figure in figures} - known == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_has_verdict_picture_table_and_report(page):
    text = page.read_text("utf-8")
    assert len(text.split()) <= 600
    assert "**Verdict.**" in text
    assert re.search(r"^!\[.+\]\(.+svg\)$", text, re.MULTILINE)
    assert f"](../../studies/reports/{page.name})" in text


def test_the_counts_of_the_overview_are_those_of_the_reports():
    overview = (HOME / "docs/studies/README.md").read_text("utf-8")
    for page in PAGES:
        report = (HOME / "studies/reports" / page.name).read_text("utf-8")
        counts = re.findall(r"(\d+) confirmed, (\d+) not confirmed, (\d+) cannot be seen", report)
        assert len(counts) == 2
        assert " | ".join(", ".join(three) for three in counts) in overview
