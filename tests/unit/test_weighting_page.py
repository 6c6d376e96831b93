"""The page of weightings has every rule: its equation, where it rests, and when it runs away."""

import re
from pathlib import Path

import pytest

from mooring.weighting import WEIGHTINGS

PAGE = (Path(__file__).parents[2] / "docs/weightings.md").read_text("utf-8")
every_weighting = pytest.mark.parametrize("kind", WEIGHTINGS)


def card(kind):
    [text] = re.findall(rf"^### {kind}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return text


def paragraph(kind, title):
    [text] = re.findall(rf"^\*\*{title}\.\*\* ((?:.+\n)+)", card(kind), re.MULTILINE)
    return text


def test_no_card_without_a_weighting():
    assert set(re.findall(r"^### (.*)$", PAGE, re.MULTILINE)) == set(WEIGHTINGS)


@every_weighting
def test_a_card_has_an_equation_and_tells_where_lambda_rests_and_when_it_runs_away(kind):
    assert "$$" in card(kind)
    assert paragraph(kind, "At rest")
    assert paragraph(kind, "Diverges")
    assert f"\n| [`{kind}`](#{kind}) |" in PAGE
