"""Every method has a card that tells the truth about what it is, and a row in the index.

Methods of the notes show their course in a picture; baselines say whose they are, what differs, and what they upload.
"""

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mooring import METHODS, load
from mooring.execution import prepare
from mooring.methods import GROUPS
from mooring.methods import _alignment as alignment
from mooring.methods import _baselines as baselines
from mooring.methods import _notes as notes

HOME = Path(__file__).parents[2]
CARDS = HOME / "docs" / "methods"
INDEX = (CARDS / "README.md").read_text("utf-8")
FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:.*\n)*?)^```$", re.MULTILINE)
BASELINES = {**baselines.MOORING, **baselines.BASELINES, **baselines.STATISTICS}
every_method = pytest.mark.parametrize("name", METHODS)
every_method_of_the_notes = pytest.mark.parametrize("name", [name for name in METHODS if name not in BASELINES])
every_baseline = pytest.mark.parametrize("name", BASELINES)


def card(name):
    return (CARDS / f"{name}.md").read_text("utf-8")


def blocks(name, info):
    return "".join(found["text"] for found in FENCE.finditer(card(name)) if found["info"] == info)


def paragraph(name, title):
    """What the card says under this title, without its full stop."""
    [text] = re.findall(rf"^\*\*{title}\.\*\* ((?:.+\n)+)", card(name), re.MULTILINE)
    return " ".join(text.split()).rstrip(".")


def index_row(name):
    [row] = [line for line in INDEX.splitlines() if line.startswith(f"| [`{name}`]({name}.md) |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_no_card_or_picture_without_a_method():
    assert {path.stem for path in CARDS.glob("*.md")} - {"README"} == set(METHODS)
    assert {path.stem for path in (CARDS / "img").iterdir()} == set(METHODS) - set(BASELINES)


@every_method
def test_a_card_has_a_title_and_an_equation(name):
    assert card(name).startswith(f"# {name}\n")
    assert "$$" in card(name)


def test_every_method_says_whose_it_is_and_in_which_group():
    assert all(method.reference and method.about for method in METHODS.values())
    assert [name for group in GROUPS.values() for name in group] == list(METHODS)


@every_baseline
def test_author_and_year_in_the_terminal_are_those_of_the_card(name):
    paper = paragraph(name, "Paper")
    author, year = (
        re.split(r"[ ,(]", paper.removeprefix("The sums are those of "))[0],
        re.findall(r"\((\d{4})\)", paper)[0],
    )
    assert author in METHODS[name].reference
    assert year in METHODS[name].reference


@every_method
def test_the_composition_on_the_card_is_the_method(name):
    names = {key: value for module in (notes, alignment, baselines) for key, value in vars(module).items()}
    assert eval(f"{{{blocks(name, 'python entry')}}}", names) == {name: METHODS[name]}


@every_method
def test_every_setting_on_a_card_is_accepted(name):
    for line in blocks(name, "text").replace("\\\n", " ").splitlines():
        program, *words = shlex.split(line)
        if program == "mooring":
            [file] = [HOME / word for word in words if word.endswith(".yaml")] or [None]
            assert load(file, [word for word in words if "=" in word])


@every_method_of_the_notes
def test_a_card_shows_its_picture_and_the_command_behind_it(name):
    assert f"](img/{name}.svg)" in card(name)
    assert f"python docs/make_methods.py {name}\n" in blocks(name, "text")


@every_method_of_the_notes
def test_a_picture_is_well_formed_small_and_says_where_it_comes_from(name):
    data = (CARDS / "img" / f"{name}.svg").read_bytes()
    assert len(data) < 60_000
    text = "".join(ElementTree.fromstring(data).itertext())
    assert re.search(rf"\b{name}  \|  seed 1, n = 1  \|  fingerprint [0-9a-f]{{8}}  \|  final ", text)


@every_method_of_the_notes
def test_a_picture_is_that_of_the_method_as_it_is_now(name):
    """A field that comes later must not change what a method that was there is called by its hash."""
    [experiment] = load(overrides=[f"method={name}", "seed=1"])
    assert f"fingerprint {experiment.fingerprint()[:8]}" in (CARDS / "img" / f"{name}.svg").read_text("utf-8")


@every_method_of_the_notes
def test_the_index_has_one_row_for_the_method_with_the_accuracy_of_its_picture(name):
    picture = (CARDS / "img" / f"{name}.svg").read_text("utf-8")
    [accuracy] = re.findall(r"final [a-z, ]+ (\d\.\d{3})<", picture)
    assert index_row(name)[-1] == accuracy
    assert accuracy in card(name)


@every_baseline
def test_a_baseline_names_its_paper_its_deviation_and_its_track(name):
    assert re.search(r"\((19|20)\d\d\), \*", paragraph(name, "Paper"))  # authors (year), *title*
    assert paragraph(name, "Deviation")
    assert paragraph(name, "Track").startswith(METHODS[name].track)


@every_baseline
def test_a_baseline_tells_how_many_bytes_a_client_uploads(name):
    _, job = prepare(load(overrides=[f"method={name}"])[0])
    tensors = [tensor for part in job.needs for tensor in part.expected(job.blueprint).values()]
    nbytes = f"{sum(tensor.nbytes for tensor in tensors):,}"
    assert f" {nbytes} bytes on the digits" in paragraph(name, "Upload")
    assert index_row(name)[-3] == nbytes


@every_baseline
def test_the_index_has_one_row_for_the_baseline_with_fusion_and_accuracy_of_its_card(name):
    said = r"^\*\*On the digits\*\* \(seed 1, n = 1\): final fused accuracy \*\*(\d\.\d{3})\*\* \(fingerprint \w{8}\)"
    [accuracy] = re.findall(said, card(name), re.MULTILINE)
    assert index_row(name)[-1] == accuracy
    assert index_row(name)[2] == f"`{METHODS[name].fusion.kind}`"
    assert f"mooring run method={name} seed=1 training.snapshots=last\n" in blocks(name, "text")
