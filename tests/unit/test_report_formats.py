"""Every format holds the same tables; what is text stays text."""

import csv
import json
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO, StringIO
from xml.etree import ElementTree

import numpy as np
import pytest
from report_folders import relabelled, write_members
from rich.console import Console

from mooring import METHODS, report
from mooring.errors import ConfigError, MooringError
from mooring.notes._reporting import NOTES_EXTENSION
from mooring.record import RunFolder
from mooring.reports import report_on
from mooring.reports._compose import compose
from mooring.reports._figure import in_words
from mooring.reports._formats import FORMATS
from mooring.reports._formats.excel import content
from mooring.reports._formats.html import asset, chart
from mooring.reports._formats.latex import latex_table
from mooring.reports._formats.terminal import show_table
from mooring.reports._reading import collect_report_data
from mooring.reports._table import Table


@pytest.fixture(scope="module")
def study(study_folder):
    return compose(collect_report_data(study_folder, extension=NOTES_EXTENSION))


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
    assert {path.stem for path in folder.iterdir()} == {table.slug for table in study.all_tables}
    rows = list(csv.DictReader(StringIO((folder / "results.csv").read_text())))
    assert float(rows[1]["accuracy"]) == pytest.approx(0.4)
    assert float(rows[1]["accuracy std"]) == pytest.approx(0.08**0.5)


def test_markdown_has_every_table_and_no_stray_markup(written, study):
    text = written("markdown").read_text()
    assert all(f"| {' | '.join(['---'] * len(table.columns))} |" in text for table in study.tables)
    assert "0.400 ± 0.283" in text
    assert r"\<b\>" in text


NOT_SEEN = 10  # points beyond the margin


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
    assert not [wide for wide in re.findall(r"Overfull \\hbox \((\d+)", done.stdout) if int(wide) > NOT_SEEN]


def test_a_wide_table_is_turned_for_a_page_that_is_higher_than_wide():
    told = Table("t", "Turned", ("round", *(f"value {i}" for i in range(20))), tuple((r, *[r] * 20) for r in range(3)))
    text = latex_table(told)
    assert "{rrrr}" in text.replace("l", "r")
    assert text.count(r"\\") == 21
    assert "value 19 & 0 & 1 & 2" in text


def test_a_long_table_never_leaves_the_page():
    told = Table(
        "t", "Long", ("a", "b", "c"), tuple((i, "many words " * 20, "0123456789abcdef" * 4) for i in range(40))
    )
    text = latex_table(told)
    boxes = [float(box) for box in re.findall(r"p\{([\d.]+)\\linewidth\}", text)]
    assert len(boxes) == 2
    assert 0.5 < sum(boxes) < 1
    assert r"01234567\allowbreak{}89abcdef" in text


def test_excel_has_a_sheet_per_table_and_native_charts(written, study):
    from openpyxl import load_workbook

    data = load_workbook(written("excel"))
    assert len(data.sheetnames) > len(study.tables)
    results = sheet(data, "Results")
    assert results[0][:3] == ("experiment", "accuracy", "accuracy std")
    assert results[2][1] == pytest.approx(0.4)
    charts = {name: data[name]._charts for name in data.sheetnames}
    assert len(charts["Accuracy"]) == 1
    [traces] = [found for name, found in charts.items() if name.startswith("Lambda v12")]
    assert traces[0].y_axis.scaling.logBase == 10


def test_excel_has_raw_lambda_factor_effective_lambda_and_entropy_by_round_and_client(v12_run, tmp_path):
    from openpyxl import load_workbook

    result = RunFolder(v12_run).result
    data = load_workbook(report(v12_run, "excel", tmp_path / "run.xlsx"))
    head, *rows = sheet(data, "Lambda by round and client")
    assert head == (
        *("run", "client", "round", "entropy (bits)"),
        *("raw lambda", "s(p)", "effective lambda", "fused accuracy"),
    )
    assert len(rows) == len(result.rounds) * result.clients
    for _, client, round_, *numbers in rows:
        number = int(client.removeprefix("client "))
        fused = result.rounds[round_ - 1]
        [own] = [row for row in fused.clients if row.client == number]
        entropy, accuracy = result.partition.entropy[number], fused.accuracy
        assert numbers == pytest.approx([entropy, own.lambda_raw, own.schedule_factor, own.lambda_felt, accuracy])


def sheet(data, name):
    """Header and rows, below the title and what is said of it."""
    return list(data[name].iter_rows(min_row=4, values_only=True))


def test_excel_begins_with_an_index_of_all_sheets(written):
    from openpyxl import load_workbook

    data = load_workbook(written("excel"))
    assert data.sheetnames[0] == "Index"
    header, *rows = sheet(data, "Index")
    assert header == ("sheet", "what it holds", "n", "seeds")
    assert [row[0] for row in rows] == data.sheetnames[1:]
    held = {name: rest for name, *rest in rows}
    assert held["Lambda by round"] == ["Lambda by round, the note's and ours", 1, "1"]
    assert held["Every round seed 2"][1:] == [1, "2"]
    assert held["Results"][1:] == [2, "1, 2"]
    no_commas = str.maketrans("", "", ",")
    for name, cell in zip(data.sheetnames[1:], data["Index"]["A"][4:], strict=True):
        assert cell.hyperlink.location == f"'{name}'!A1"
        said, title, columns = held[name][0], data[name]["A1"].value, [cell.value for cell in data[name][4]]
        assert said == title or said.startswith(f"{columns[0]}, {columns[1]}")
        assert said.translate(no_commas) != name  # that is told already


def test_where_a_title_is_the_name_of_its_sheet_the_index_tells_the_columns():
    columns = tuple(f"column {i}" for i in range(8))
    told = "column 0, column 1, column 2, column 3, column 4, column 5 and 2 more"
    assert content("Every round seed 2", Table("a", "Every round, seed 2", columns, ())) == told
    assert content("Costs", Table("costs", "Costs", ("method", "seconds"), ())) == "method, seconds"
    assert content("Lambda", Table("b", "Lambda of every client", columns, ())) == "Lambda of every client"


def test_excel_has_the_tables_of_the_note_with_numbers_as_numbers(written):
    from openpyxl import load_workbook

    data = load_workbook(written("excel"))
    header, *rows = sheet(data, "Lambda by round")
    assert header[-3:] == ("accuracy (measured)", "accuracy (measured) std", "accuracy (measured) n")
    assert rows == [
        (0, 12.04, 0, 9.5, 0.25, 0.01, 2),
        (14, 204658.4, 1, 37000, 0.5, None, 1),
        (29, "not given", None, None, None, None, None),
    ]
    [chart] = data["Lambda by round"]._charts
    assert chart.y_axis.scaling.logBase == 10
    drawn = [(series.xVal.numRef.f, series.yVal.numRef.f) for series in chart.series]
    assert drawn == [
        ("'Lambda by round'!$A$5:$A$7", "'Lambda by round'!$B$5:$B$7"),
        ("'Lambda by round'!$C$5:$C$7", "'Lambda by round'!$D$5:$D$7"),
    ]


def test_the_columns_of_a_table_are_drawn_on_the_page_and_for_papers(study):
    [drawn] = [figure for figure in study.drawn if figure.slug == "study-2-lambda"]
    note, measured = drawn.lines
    assert (note.x, note.y, note.style) == ((0, 14), (12.04, 204658.4), "dashed")
    assert (measured.x, measured.y, measured.style) == ((0, 1), (9.5, 37000), "solid")
    assert note.colour == measured.colour


def test_excel_never_takes_text_for_a_formula(written):
    from openpyxl import load_workbook

    data = load_workbook(written("excel"))
    assert [cell.data_type for cell in next(data["Of <client> 3"].iter_rows(min_row=6, max_row=6))] == ["s", "s"]
    assert [cell.data_type for cell in next(data["Results"].iter_rows(min_row=5, max_row=5))][:3] == ["s", "n", "n"]


@pytest.mark.skipif(shutil.which("soffice") is None, reason="the Excel report in LibreOffice: no soffice on the PATH")
def test_libreoffice_reads_the_cells(written, tmp_path):
    home = f"-env:UserInstallation=file://{tmp_path}/profile"
    every_sheet = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    order = ["soffice", "--headless", home, "--convert-to", every_sheet, "--outdir", tmp_path, written("excel")]
    subprocess.run(order, capture_output=True, timeout=120, check=True)
    _, _, _, header, *rows = csv.reader(StringIO((tmp_path / "report-Results.csv").read_text("utf-8")))
    assert header[:3] == ["experiment", "accuracy", "accuracy std"]
    assert [float(row[1]) for row in rows] == pytest.approx([0.6, 0.4])


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
    """What a browser would fetch, which elements there are, and the text in each kind of them."""

    def __init__(self):
        super().__init__()
        self.fetched, self.tags, self.attributes, self.texts = [], [], [], {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.fetched += [value for name, value in attrs if name in ("src", "href", "srcset", "action") and value]

    def handle_data(self, data):
        self.texts.setdefault(self.tags[-1] if self.tags else "", []).append(data)


def test_the_page_fetches_nothing_and_escapes_everything(written, study):
    text = written("html").read_text()
    reader = Reader()
    reader.feed(text)
    assert all(address.startswith(("#", "data:text/csv;base64,")) for address in reader.fetched)
    assert reader.tags.count("script") == 3
    assert "<b>runs</b>" not in text
    assert "lambda &lt;b&gt;runs&lt;/b&gt; away" in text
    assert reader.tags.count("table") == len(study.tables)


HOSTILE = """</script><script>alert("hi")</script>'&`"""


@pytest.fixture
def hostile_sweep(v12_run, tmp_path, monkeypatch):
    """Two runs whose folder, method, classes, data set and factors are named by somebody who means harm."""
    monkeypatch.setitem(METHODS, HOSTILE, METHODS["v12"])
    labels, images = np.arange(10), np.zeros((10, 8, 8), np.uint8)
    parts = {"train_images": images, "test_images": images, "train_labels": labels, "test_labels": labels}
    classes = tuple(f"{label} {HOSTILE}" for label in labels)
    sites = tuple(replace(site, name=f"{site.number} {HOSTILE}") for site in RunFolder(v12_run).result.sites)
    np.savez(tmp_path / "own.npz", **parts, classes=np.array(classes))
    own = ["data.source=arrays", f"data.root={tmp_path / 'own.npz'}", "model=digits_net", f"method={HOSTILE}"]
    folder = tmp_path / "<i>sweep"
    members = {}
    for lr, accuracy in (("0.1", 0.5), ("0.2", 0.6)):
        name = f"<script>alert('{lr}')\"&"
        settings = [*own, f"training.lr={lr}"]
        relabelled(v12_run, folder / "runs" / name, settings, accuracy, dataset=HOSTILE, classes=classes, sites=sites)
        members[name] = {"training.lr": f"{lr}{HOSTILE}"}
    (folder / "sweep.yaml").write_text("factors: {}")
    write_members(folder, members)
    return folder


def test_no_name_is_ever_markup(hostile_sweep):
    """In titles, tables, choices, captions, and in the figures, whose JSON no name can end."""
    reader = Reader()
    reader.feed(report(hostile_sweep).read_text("utf-8"))
    assert reader.tags.count("script") == 3
    assert "i" not in reader.tags
    assert reader.texts["h1"] == ["<i>sweep"]
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    for place in ("p", "option", "span", "td", "th"):
        assert any(HOSTILE in text for text in reader.texts[place]), place
    assert any(HOSTILE in (value or "") for name, value in reader.attributes if name == "data-of")
    [figures] = [json.loads(text) for text in reader.texts["script"] if text.startswith("[{")]
    names = [text for text in strings(figures) if "alert" in text]
    assert names  # as they are: what draws them writes text and no markup
    told = [b64decode(address.partition(",")[2]).decode() for address in reader.fetched if address.startswith("data:")]
    assert any(HOSTILE in cell for text in told for row in csv.reader(StringIO(text)) for cell in row)


def strings(value):
    """Every text in a tree of JSON."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


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


def test_what_draws_the_figures_writes_text_and_no_markup():
    for name in ("charts.js", "page.js"):
        script = asset(name)
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|fetch\(", script
        )


def test_every_figure_is_told_in_words_and_drawn_with_few_digits(study):
    for figure in study.drawn:
        assert in_words(figure).startswith(figure.title)
        json.dumps(chart(figure), allow_nan=False)
    [lambdas] = [figure for figure in study.drawn if figure.slug == "study-2-lambda"]
    told = chart(lambdas)
    assert told["log"]
    assert [line["y"] for line in told["lines"]] == [[12.04, 204660], [9.5, 37000]]
    assert "lambda (measured) from 9.500 at 0 to 37,000 at 1" in in_words(lambdas)


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


def test_the_terminal_prints_every_section_and_table_within_its_width(v12_run, cli):
    code, out, err = cli("report", v12_run, "--format", "terminal")
    assert code == 0, err
    found = report_on(v12_run)
    assert all(section.title in out for section in found.sections)
    assert all(table.title in out for table in found.tables)
    assert "━" not in out
    assert not list(v12_run.glob("report.*")), "nothing is written"


def test_a_wide_table_continues_below_and_one_that_is_far_too_wide_is_named(capsys):
    wide = Table("wide", "Confusion", ("class", *map(str, range(60))), (("cat", *range(1000, 1060)),))
    show_table(wide, Console(width=80))
    assert capsys.readouterr().out == "Confusion: 61 columns are too wide for this terminal\n"
    show_table(wide, Console(width=160))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert [line[0] for line in lines] == ["class", "cat"] * (len(lines) // 2)
    assert [cell for line in lines[::2] for cell in line[1:]] == [str(column) for column in range(60)]
    shown = Table("small", "Small", ("class", "found"), (("cat", 12), ("a long name", None)), "a note")
    show_table(shown, Console(width=80))
    assert capsys.readouterr().out.split() == ["class", "found", "cat", "12", "a", "long", "name", "–", "a", "note"]
