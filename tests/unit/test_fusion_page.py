"""The page of fusions knows every rule: what clients upload for it, and what the server must hold."""

import re
from pathlib import Path

import pytest

from mooring import load
from mooring.execution import prepare
from mooring.fusion import FUSIONS

PAGE = (Path(__file__).parents[2] / "docs/fusions.md").read_text("utf-8")
every_fusion = pytest.mark.parametrize("kind", FUSIONS)


@pytest.fixture(scope="module")
def blueprint():
    return prepare(load(overrides=["method=v7"])[0])[1].blueprint


def row(kind):
    [found] = [line for line in PAGE.splitlines() if line.startswith(f"| [`{kind}`](#{kind}) |")]
    return [cell.strip() for cell in found.strip("|").split("|")]


@every_fusion
def test_every_rule_has_its_paragraph_with_an_equation(kind):
    [text] = re.findall(rf"^### {kind}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert "$$" in text


@every_fusion
def test_the_table_tells_bytes_and_images_truly(kind, blueprint):
    fusion = FUSIONS[kind]()
    tensors = [tensor for part in fusion.needs for tensor in part.expected(blueprint).values()]
    assert row(kind)[2] == f"{sum(tensor.nbytes for tensor in tensors):,}"
    assert row(kind)[3] == (", ".join(sorted(fusion.asks)) or "-")


@every_fusion
def test_every_rule_says_what_it_computes_and_whose_it_is(kind):
    rule = FUSIONS[kind]
    assert rule.kind == kind
    assert rule.about
    assert rule.group != "other"
    assert re.search(r"\d{4}", rule.reference)
    assert rule.makes
