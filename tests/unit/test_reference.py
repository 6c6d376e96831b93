"""Pages that are made from the code are current, and the glossary can be looked up."""

import re
import runpy
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(HOME / "docs")
    REFERENCE = runpy.run_path(str(HOME / "docs/make_reference.py"))


@pytest.mark.parametrize("page", REFERENCE["PAGES"])
def test_the_page_is_what_the_code_says(page):
    written = (HOME / "docs" / page).read_text("utf-8")
    assert any(mark in written for mark in (REFERENCE["BEGIN"], "<!-- settings: ", "<!-- method: "))
    made = REFERENCE["PAGES"][page](written)
    assert made == written, f"docs/{page} is not current; run: python docs/make_reference.py"


def test_every_number_that_leaves_a_client_has_words():
    assert "no words for" not in (HOME / "docs/privacy.md").read_text("utf-8")


def test_the_glossary_is_in_alphabetical_order_and_has_the_words_of_the_records():
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", (HOME / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)[1:]
    words = [row.casefold() for row in rows]
    assert words == sorted(words)
    assert {
        "effective lambda",
        "raw lambda",
        "local-only",
        "overlap",
        "round",
        "snapshot",
        "track",
        "site",
        "client",
    } <= set(words)
    assert {"upload", "predictor", "fingerprint"} <= set(words)
