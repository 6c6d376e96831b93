"""The documentation site: the nav names every page once, the API page every public name, and strict mode is content."""

import re
import runpy
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import mooring

HOME = Path(__file__).parents[2]
SETTINGS = yaml.safe_load((HOME / "mkdocs.yml").read_text("utf-8"))
HOOKS = runpy.run_path(str(HOME / "docs/site_hooks.py"))
PAGES = [path.relative_to(HOME / "docs").as_posix() for path in HOME.glob("docs/**/*.md")] + [*HOOKS["GUESTS"].values()]


def test_the_nav_names_every_page_once_and_no_other():
    nav = HOOKS["expanded"](SETTINGS["nav"], PAGES)
    assert Counter(HOOKS["named"](nav)) == Counter(PAGES)


def test_the_nav_shows_four_kinds_of_pages():
    titles = [title for entry in SETTINGS["nav"] for title in entry]
    assert [title for title in titles if title != "中文"] == ["Home", "Tutorials", "How-to", "Reference", "Explanation"]


def test_a_pattern_takes_what_nobody_names_in_natural_order_and_vanishes_without_a_page():
    nav = ["v7.md", {"Versions": "v*.md"}, {"None": "x*.md"}, "*.md"]
    pages = ["v10.md", "v9.md", "v7.md", "v9-constant.md", "a.md", "studies/1.md"]
    told = ["v7.md", {"Versions": ["v9.md", "v9-constant.md", "v10.md"]}, "a.md"]
    assert HOOKS["expanded"](nav, pages) == told


@pytest.mark.parametrize("page", sorted(page for page in PAGES if page.count("/") == 0 or page.endswith("README.md")))
def test_the_first_page_leads_there(page):
    elsewhere = {"index.md", "changelog.md", "performance.md"}  # reached from pages that it leads to
    told = {"contributing.md": "../CONTRIBUTING.md"}.get(page, page)
    assert page in elsewhere or f"]({told})" in (HOME / "docs/index.md").read_text("utf-8")


def test_pages_outside_the_folder_exist():
    assert all((HOME / name).exists() for name in HOOKS["MOVED"])


def test_the_site_fetches_nothing_from_elsewhere():
    assert SETTINGS["theme"]["font"] is False
    assert "http" not in (HOME / "mkdocs.yml").read_text("utf-8") + (HOME / "docs/site.css").read_text("utf-8")


def test_the_api_page_has_every_public_name():
    page = (HOME / "docs/api.md").read_text("utf-8")
    listed = set(re.findall(r"(?:^:::|heading:) (\S+)$", page, re.MULTILINE))
    assert {f"mooring.{name}" for name in mooring.__all__} - listed == set()


def test_pages_import_public_modules_only():
    declared = (HOME / "docs/api.md").read_text("utf-8").split("Public is")[1].split("Everything else")[0]
    public = {"mooring", *re.findall(r"`(mooring\.\w+)`", declared)}
    pages = [HOME / "README.md", *(HOME / "docs").glob("**/*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    used = set(re.findall(r"^(?:from|import|:::) (mooring[\w.]*)", text, re.MULTILINE))
    assert used > {"mooring", "mooring.fusion"}
    assert {name for name in used if not {name, name.rpartition(".")[0]} & public} == set()


@pytest.mark.skipif(not find_spec("mkdocstrings"), reason="that the site builds: the extra docs is not installed")
def test_the_site_builds_in_strict_mode(tmp_path):
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    built = subprocess.run(words, cwd=HOME, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for page in tmp_path.glob("**/*.html"):
        text = page.read_text("utf-8")
        assert "```" not in text, page
        assert 'class="arithmatex"' not in text, page
