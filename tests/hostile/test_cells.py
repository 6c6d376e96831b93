"""Names in tables stay names: no spreadsheet computes them, and no character of theirs breaks a file."""

import csv
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import load_workbook

from mooring.reports._figure import Curves, Line
from mooring.reports._formats.excel import write_excel
from mooring.reports._formats.latex import escaped
from mooring.reports._formats.text import fenced, inline, write_csv, write_markdown
from mooring.reports._section import Report, Section
from mooring.reports._table import Table, csv_text
from mooring.sweeps._tables import as_csv
from mooring.wording import FORMULA, GUARD, guarded, in_csv, printable

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-", "'=1", "''+x"]
NUMBERS = ["-1", "+0.5", "-1.5e-7", "-12.04", "+1,437", "-5%", "1"]
NAMES = ["Ward 3", "'s-Hertogenbosch", "a=b", "x-1", "v7 + fusion=iffi", "", "Ä", "Klinik – Süd"]


def unguarded(text):
    """What a spreadsheet shows of a cell: a quote before what would be a formula is not part of the text."""
    return text.removeprefix(GUARD) if text.startswith(GUARD) and FORMULA.match(text) else text


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text(text):
    assert guarded(text)[0] in "' "
    assert unguarded(guarded(text)) == printable(text)


@pytest.mark.parametrize("text", NUMBERS + NAMES)
def test_numbers_and_names_stay_as_they_are(text):
    assert guarded(text) == text == unguarded(text)


@given(st.text())
@example("'")
@example("'-5")
def test_every_text_is_read_back(text):
    assert unguarded(guarded(text)) == printable(text)
    assert guarded(text)[:1] not in ("=", "@", "\t", "\r")
    printable(text).encode()


def test_cells_that_are_no_text_are_left_alone():
    assert [in_csv(cell) for cell in (-3, -0.5, None, True)] == [-3, -0.5, None, True]


HOSTILE = Table(
    "clients", "=title", ("client", "=column", "mean"), (("=1+1", "a\x07b\x1b[2J", -0.5), ("@x", "a\rb", -3))
)


def rows_of(text):
    return list(csv.reader(StringIO(text)))


def test_a_csv_file_of_a_report_holds_no_formula():
    assert rows_of(csv_text(HOSTILE)) == [
        ["client", "'=column", "mean"],
        ["'=1+1", r"a\x07b\x1b[2J", "-0.5"],
        ["'@x", "a b", "-3"],
    ]


def test_the_tables_of_a_sweep_hold_none(tmp_path):
    cells = {"run": "-a+b", "weight": "=x", "alpha": -0.5, "seed": 1, "status": "@ill\x00"}
    (tmp_path / "results.csv").write_bytes(as_csv([cells, cells | {"run": "c", "alpha": None}]))
    assert rows_of((tmp_path / "results.csv").read_text())[1] == ["'-a+b", "'=x", "-0.5", "1", r"'@ill\x00"]


@pytest.fixture
def report():
    lines = (Line("a\x01", (0.0, 1.0), (0.5, float("inf")), 0, "solid"),)
    curves = Curves("course", "t\x02", "", "round\x03", "y\x04", lines)
    section = Section("s", "Section", "", tables=(HOSTILE,), figures=(curves,), texts=(("t", "a: |\n  ```\n  # b\n"),))
    return Report("title\x05", "sub\x0b", (), (), (section,), command="a\x06 ```\n# c")


def test_a_workbook_is_written_whatever_names_hold(report, tmp_path):
    write_excel(report, tmp_path / "x.xlsx")
    data = load_workbook(tmp_path / "x.xlsx")
    sheet = data.worksheets[1]  # after the index
    assert sheet["A5"].value == "=1+1"
    assert sheet["A5"].data_type == "s"
    assert sheet["B5"].value == r"a\x07b\x1b[2J"
    assert [row[1].value for row in data.worksheets[2].iter_rows(min_row=5)] == [0.5, None]


def test_a_whole_number_that_no_cell_holds_is_text(tmp_path, report):
    from dataclasses import replace

    table = Table("t", "t", ("n",), ((10**400,), (2**53,)))
    write_excel(replace(report, sections=(Section("s", "S", "", tables=(table,)),)), tmp_path / "x.xlsx")
    cells = [row[0].value for row in load_workbook(tmp_path / "x.xlsx").worksheets[1].iter_rows(min_row=5)]
    assert cells == [str(10**400), 2**53]


def test_one_row_of_markdown_is_one_line(report, tmp_path):
    write_markdown(report, tmp_path / "x.md")
    write_csv(report, tmp_path / "csv")
    text = (tmp_path / "x.md").read_text()
    assert r"| =1+1 | a\\x07b\\x1b\[2J | -0.500 |" in text.splitlines()
    assert not set(text) & set(map(chr, [*range(9), *range(11, 32), 0x85, 0x2028]))
    assert (tmp_path / "csv" / "clients.csv").exists()


@pytest.mark.parametrize("text", ["a\rb", "a\x0bb", "a\x0cb", "a\x85b", "a\u2028b", "a\nb"])
def test_no_character_begins_a_new_line(text):
    assert inline(text) == escaped(text) == "a b"


def test_latex_is_given_no_control_characters():
    assert escaped("a\x00b") == r"a\textbackslash{}x00b"


def test_a_text_does_not_end_its_own_fence():
    assert fenced("a\n```\n# b", "text").splitlines()[0] == "````text"
    assert fenced("a", "yaml") == "```yaml\na\n```"
