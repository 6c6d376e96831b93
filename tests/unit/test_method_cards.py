"""Every method has a card that tells the truth about what it is, a picture, and a row in the index."""

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mooring import METHODS, load
from mooring.methods import alignment, fafi, public_bank, sound

HOME = Path(__file__).parents[2]
CARDS = HOME / "docs" / "methods"
INDEX = (CARDS / "README.md").read_text("utf-8")
FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:.*\n)*?)^```$", re.MULTILINE)
every_method = pytest.mark.parametrize("name", METHODS)


def card(name):
    return (CARDS / f"{name}.md").read_text("utf-8")


def blocks(name, info):
    return "".join(found["text"] for found in FENCE.finditer(card(name)) if found["info"] == info)


def test_no_card_or_picture_without_a_method():
    assert {path.stem for path in CARDS.glob("*.md")} - {"README"} == set(METHODS)
    assert {path.stem for path in (CARDS / "img").iterdir()} == set(METHODS)


@every_method
def test_a_card_shows_its_picture_its_equation_and_the_command_behind_it(name):
    assert card(name).startswith(f"# {name}\n")
    assert f"](img/{name}.svg)" in card(name)
    assert "$$" in card(name)
    assert f"python docs/make_methods.py {name}\n" in blocks(name, "text")


@every_method
def test_the_composition_on_the_card_is_the_method(name):
    names = {**vars(fafi), **vars(public_bank), **vars(sound), **vars(alignment)}
    assert eval(f"{{{blocks(name, 'python entry')}}}", names) == {name: METHODS[name]}


@every_method
def test_every_setting_on_a_card_is_accepted(name):
    for line in blocks(name, "text").replace("\\\n", " ").splitlines():
        program, *words = shlex.split(line)
        if program == "mooring":
            [file] = [HOME / word for word in words if word.endswith(".yaml")] or [None]
            assert load(file, [word for word in words if "=" in word])


@every_method
def test_a_picture_is_well_formed_small_and_says_where_it_comes_from(name):
    data = (CARDS / "img" / f"{name}.svg").read_bytes()
    assert len(data) < 60_000
    text = "".join(ElementTree.fromstring(data).itertext())
    assert re.search(rf"\b{name}  \|  seed 1, n = 1  \|  fingerprint [0-9a-f]{{8}}  \|  final ", text)


@every_method
def test_the_index_has_one_row_for_the_method_with_the_accuracy_of_its_picture(name):
    [row] = [line for line in INDEX.splitlines() if line.startswith(f"| [`{name}`]({name}.md) |")]
    picture = (CARDS / "img" / f"{name}.svg").read_text("utf-8")
    [accuracy] = re.findall(r"final [a-z, ]+ (\d\.\d{3})<", picture)
    assert row.split("|")[-2].strip() == accuracy
    assert accuracy in card(name)
