"""The page of weightings knows every rule: its equation, where it rests, its keys, and which methods use it."""

import re
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import pytest

from mooring import METHODS
from mooring.weighting import WEIGHTINGS

PAGE = (Path(__file__).parents[2] / "docs/weightings.md").read_text("utf-8")
every_weighting = pytest.mark.parametrize("kind", WEIGHTINGS)


def card(kind):
    [text] = re.findall(rf"^### {kind}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return text


def paragraph(kind, title):
    [text] = re.findall(rf"^\*\*{title}\.\*\* ((?:.+\n)+)", card(kind), re.MULTILINE)
    return text


def kinds(weighting):
    """The kind of a weighting and of those inside it."""
    inside = [getattr(weighting, field.name) for field in fields(weighting)]
    own = type(weighting)
    return {own.kind}.union(*[kinds(value) for value in inside if type(value) in WEIGHTINGS.values()])


def shown(field):
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if is_dataclass(value):
        return getattr(value, "kind", "see below")
    return "null" if value is None else str(value)


def test_no_card_without_a_weighting():
    assert set(re.findall(r"^### (.*)$", PAGE, re.MULTILINE)) == set(WEIGHTINGS)


@every_weighting
def test_a_card_has_an_equation_and_tells_where_lambda_rests_and_when_it_runs_away(kind):
    assert "$$" in card(kind)
    assert paragraph(kind, "At rest")
    assert paragraph(kind, "Runs away")
    assert f"\n| [`{kind}`](#{kind}) |" in PAGE


@every_weighting
def test_a_card_has_every_key_with_its_default(kind):
    keys = ", ".join(f"`{field.name}` {shown(field)}" for field in fields(WEIGHTINGS[kind])) or "None"
    assert " ".join(paragraph(kind, "Keys").split()).startswith(f"{keys}.")


@every_weighting
def test_a_card_names_the_methods_that_use_it(kind):
    aligned = {name: method.client.align for name, method in METHODS.items() if method.client.align}
    users = {name for name, align in aligned.items() if kind in kinds(align.weight)}
    assert set(re.findall(r"\[([^\]]+)\]\(methods/\1\.md\)", paragraph(kind, "Methods"))) == users
