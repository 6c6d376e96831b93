"""Every format holds the same tables; what is text stays text."""

import csv
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from io import BytesIO, StringIO
from xml.etree import ElementTree

import pytest

from mooring import report
from mooring.errors import ConfigError, MooringError
from mooring.reports.compose import compose
from mooring.reports.folders import gather
from mooring.reports.formats import FORMATS


@pytest.fixture(scope="module")
def study(study_folder):
    return compose(gather(study_folder))


@pytest.fixture(scope="module")
def written(study_folder, tmp_path_factory):
    """Where each format was written, once."""
    out = tmp_path_factory.mktemp("written")
    paths = {}

    def write(format_):
        if format_ not in paths:
            paths[format_] = report(study_folder, format_, out / FORMATS[format_].name)
        return paths[format_]

    return write


def test_csv_has_every_table_with_numbers_in_full(written, study):
    folder = written("csv")
    assert {path.stem for path in folder.iterdir()} == {table.slug for table in study.tables}
    rows = list(csv.DictReader(StringIO((folder / "results.csv").read_text())))
    assert float(rows[1]["accuracy"]) == pytest.approx(0.4)
    assert float(rows[1]["accuracy std"]) == pytest.approx(0.08**0.5)


def test_markdown_has_every_table_and_no_stray_markup(written, study):
    text = written("markdown").read_text()
    assert all(f"| {' | '.join(['---'] * len(table.columns))} |" in text for table in study.tables)
    assert "0.400 ± 0.283" in text
    assert r"\<b\>" in text


def test_latex_is_balanced_and_its_rows_fit_their_columns(written):
    text = written("latex").read_text()
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    opened, closed = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(opened) == sorted(closed)
    for columns, body in re.findall(r"\\begin\{tabular\}\{(.*?)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL):
        width = len(re.sub(r"p\{.*", "l", columns.replace("p{7cm}", "l")))
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {width}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="the LaTeX report in LaTeX: no pdflatex on the PATH")
def test_latex_compiles(written, tmp_path):
    order = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-output-directory", tmp_path]
    done = subprocess.run([*order, written("latex")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_excel_has_a_sheet_per_table_and_native_charts(written, study):
    from openpyxl import load_workbook

    book = load_workbook(written("excel"))
    assert len(book.sheetnames) >= len(study.tables)
    results = list(book["Results"].iter_rows(values_only=True))
    assert results[0][:3] == ("experiment", "accuracy", "accuracy std")
    assert results[2][1] == pytest.approx(0.4)
    charts = {name: book[name]._charts for name in book.sheetnames}
    assert len(charts["accuracy"]) == 1
    [traces] = [found for name, found in charts.items() if name.startswith("lambda") and "v12" in name]
    assert traces[0].y_axis.scaling.logBase == 10


def test_excel_never_takes_text_for_a_formula(written):
    from openpyxl import load_workbook

    place = load_workbook(written("excel"))["Of <client> 3"]
    assert [cell.data_type for cell in next(place.iter_rows(min_row=3, max_row=3))] == ["n", "s"]


@pytest.mark.skipif(shutil.which("soffice") is None, reason="the Excel report in LibreOffice: no soffice on the PATH")
def test_libreoffice_reads_the_cells(written, tmp_path):
    home = f"-env:UserInstallation=file://{tmp_path}/profile"
    order = ["soffice", "--headless", home, "--convert-to", "csv", "--outdir", tmp_path, written("excel")]
    subprocess.run(order, capture_output=True, timeout=120, check=True)
    first = list(csv.reader(StringIO((tmp_path / "report.csv").read_text("utf-8"))))
    assert first[0][:3] == ["experiment", "accuracy", "accuracy std"]
    assert [float(row[1]) for row in first[1:]] == pytest.approx([0.6, 0.4])


def test_figures_are_drawn_in_three_formats(v12_run, tmp_path):
    from PIL import Image

    folder = report(v12_run, "figures", tmp_path / "figures")
    kinds = [{path.stem for path in folder.glob(f"*.{kind}")} for kind in ("pdf", "svg", "png")]
    assert kinds[0] == kinds[1] == kinds[2]
    assert {"accuracy", "per-class"} <= kinds[0]
    for path in folder.glob("*.svg"):
        ElementTree.parse(path)
    for path in folder.glob("*.png"):
        assert len(Image.open(BytesIO(path.read_bytes())).convert("L").getcolors()) > 1
    assert all(path.read_bytes()[:5] == b"%PDF-" for path in folder.glob("*.pdf"))


class Reader(HTMLParser):
    """What a browser would fetch, and which elements there are."""

    def __init__(self):
        super().__init__()
        self.fetched, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href", "srcset", "action") and value]


def test_the_page_fetches_nothing_and_escapes_everything(written, study):
    text = written("html").read_text()
    reader = Reader()
    reader.feed(text)
    assert all(address.startswith(("#", "data:text/csv;base64,")) for address in reader.fetched)
    assert reader.tags.count("script") == 3
    assert "<b>runs</b>" not in text
    assert "lambda &lt;b&gt;runs&lt;/b&gt; away" in text
    assert reader.tags.count("table") == len(study.tables)
    assert text.count("* plotly.js v") == 1


def test_a_claim_is_explained_in_every_format(written):
    """In the note's own words, with the remark of the study, and the command that makes it again."""
    from openpyxl import load_workbook

    texts = {name: written(name).read_text("utf-8") for name in ("html", "markdown", "latex")}
    sheets = [row for sheet in load_workbook(written("excel")) for row in sheet.iter_rows(values_only=True)]
    texts["excel"] = "\n".join(str(cell) for row in sheets for cell in row)
    texts["csv"] = "\n".join(path.read_text("utf-8") for path in written("csv").iterdir())
    explained = ("最终稳定在一个", "均衡点", "The sign is", "mooring study 5 scale=quick seeds=1,2", "Why does lambda")
    for name, text in texts.items():
        assert [told for told in explained if told not in text] == [], name
    assert "<q>最终稳定在一个&lt;b&gt;非零&lt;/b&gt;的均衡点，σ</q>" in texts["html"]
    assert "100% not. The sign is &lt;i&gt;wrong" in texts["html"]
    assert "「最终稳定在一个" in texts["markdown"]
    assert r"\eastern{最终稳定在一个}" in texts["latex"]


def test_plotly_accepts_every_figure(study):
    from plotly.graph_objects import Figure

    from mooring.reports.page.traces import plotly as as_plotly

    for figure in study.figures:
        told = as_plotly(figure)
        for trace in told["data"]:
            for colour in ("line", "marker"):
                trace.get(colour, {}).pop("color", None)  # named after the theme until the page fills them in
            trace.pop("colorscale", None)
            for side in ("error_x", "error_y"):
                trace.get(side, {}).pop("color", None)
        Figure(told)


def test_a_report_is_written_into_its_folder_and_replaced(v12_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(v12_run, folder)
    assert report(folder, "markdown") == folder / "report.md"
    assert report(str(folder), "markdown").read_text() == (folder / "report.md").read_text()
    assert not [path for path in folder.iterdir() if path.name.startswith(".report")]


def test_a_misspelt_format_is_told_with_the_nearest(v12_run):
    with pytest.raises(ConfigError, match="did you mean 'markdown'"):
        report(v12_run, "markdwon")


def test_a_missing_extra_is_named(v12_run, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MooringError, match=r"openpyxl: is not installed; pip install 'mooring\[report\]'"):
        report(v12_run, "excel")
