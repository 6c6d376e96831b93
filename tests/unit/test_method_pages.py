"""Every method has one section on a family page, with its facts from the code and an accuracy that can be repeated."""

import csv
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mooring import METHODS, load
from mooring.methods import BASELINES, GROUPS, MOORING, STATISTICS, TRAINED_AND_SUMS

HOME = Path(__file__).parents[2]
FOLDER = HOME / "docs" / "methods"
INDEX = (FOLDER / "README.md").read_text("utf-8")
PAGES = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md") if path.name != "README.md"}
FENCE = re.compile(r"^```text\n(?P<text>(?:.*\n)*?)^```$", re.MULTILINE)
SECTION = re.compile(
    r"^## (\S+)\n\n<!-- method: (\S+) -->\n(.*?)^<!-- end -->\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
SECTIONS = [(page, *found) for page, text in PAGES.items() for found in SECTION.findall(text)]
PICTURES = sorted((FOLDER / "img").iterdir())
with (FOLDER / "digits.csv").open(encoding="utf-8") as file:
    DIGITS = {row["method"]: row for row in csv.DictReader(file)}
every_method = pytest.mark.parametrize("name", METHODS)
every_picture = pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)


def last_only(name):
    return ["training.snapshots=last"] if name in {**MOORING, **TRAINED_AND_SUMS, **BASELINES, **STATISTICS} else []


def test_every_method_has_one_section_and_every_section_its_method():
    assert sorted(title for _, title, _, _, _ in SECTIONS) == sorted(METHODS)
    assert all(title == name for _, title, name, _, _ in SECTIONS)
    assert sum(text.count("\n## ") for text in PAGES.values()) == len(METHODS)


def test_family_pages_are_few_and_each_is_in_the_index():
    assert len(PAGES) <= 15
    assert [page for page in PAGES if f"]({page})" not in INDEX] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_family_page_has_a_formula_and_says_on_which_data_its_accuracies_were_measured(page):
    assert "$$" in PAGES[page] or "<!-- docstring: " in PAGES[page]
    assert "digits" in PAGES[page]
    assert "n = 1" in PAGES[page]


@every_method
def test_the_index_leads_to_the_section(name):
    [(page, *_)] = [section for section in SECTIONS if section[1] == name]
    assert f"[`{name}`]({page}#{name}) {DIGITS[name]['accuracy']}" in INDEX


def test_every_method_says_whose_it_is_and_in_which_group():
    assert all(method.reference and method.about for method in METHODS.values())
    assert [name for group in GROUPS.values() for name in group] == list(METHODS)


@pytest.mark.parametrize("name", {**BASELINES, **STATISTICS})
def test_author_and_year_in_the_terminal_are_in_the_section(name):
    """`FedAvg: McMahan et al., AISTATS 2017`: the section cites the same paper in full."""
    [(_, _, _, _, prose)] = [section for section in SECTIONS if section[1] == name]
    if "Mooring" not in METHODS[name].reference:
        paper = METHODS[name].reference.rpartition(": ")[2]
        [(author, year)] = re.findall(r"^(\w+).*?(\d{4})$", paper)
        assert re.search(rf"{author}\b[^*]*\({year}\), \*", prose)


@every_method
def test_every_setting_in_a_section_is_accepted(name):
    [(_, _, _, _, prose)] = [section for section in SECTIONS if section[1] == name]
    blocks = "".join(found["text"] for found in FENCE.finditer(prose))
    for line in blocks.replace("\\\n", " ").splitlines():
        program, *words = shlex.split(line) if line.startswith("mooring ") else [""]
        if program:
            [file] = [HOME / word for word in words if word.endswith(".yaml")] or [None]
            assert load(file, [word for word in words if "=" in word])


@every_method
def test_the_recorded_accuracy_is_of_the_method_as_it_is_now(name):
    [experiment] = load(overrides=[f"method={name}", "seed=1", *last_only(name)])
    assert experiment.fingerprint()[:8] == DIGITS[name]["fingerprint"], f"run: python docs/make_methods.py {name}"


@every_picture
def test_a_picture_is_shown_once_small_and_is_the_recorded_run(path):
    text = "".join(ElementTree.fromstring(path.read_bytes()).itertext())
    row = DIGITS[path.stem]
    assert f"{path.stem}  |  seed 1, n = 1  |  fingerprint {row['fingerprint']}  |  final " in text
    assert text.split("final ")[1].split("\n")[0].endswith(row["accuracy"])
    assert path.stat().st_size < 60_000
    assert sum(f"](img/{path.name})" in page for page in PAGES.values()) == 1
