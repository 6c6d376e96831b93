"""The page in a real browser: it opens from disk, fetches nothing, and everything on it works."""

import csv
import os
from base64 import b64decode
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from report_folders import noted, with_many_clients

from mooring import report

DESKTOP = {"width": 1200, "height": 900}
NOTED = ("3", "4")  # notes with many experiments and claims
HIGHEST = {"run": 4_000, "crowd": 4_000, "study": 8_000}  # pixels at 1280 wide
ADDRESSES = {"study": "address", "run": "run_address", "crowd": "crowd_address"}
SERIOUS = ("serious", "critical")
AXE = "node_modules/axe-core/axe.min.js"
READABLE = 4.5  # WCAG AA, of small text
PHONE, COLUMN = 343, 322  # pixels of a chart on a phone 375 wide, and in a column on paper
ON_PAPER = 688  # pixels within the margins of A4
DRAWING = "([figure, width]) => { const place = document.createElement('div'); "
DRAWING += "place.className = 'chart'; document.body.append(place); "
DRAWING += "charts.draw(figure, place, width); const found = (%s)(place); place.remove(); return found }"
COLOURS = """(place) => [...place.querySelectorAll('.value')].map((text) => {
  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const painted = (...fills) => {
    for (const [fill, opacity] of fills) {
      pixel.globalAlpha = opacity;
      pixel.fillStyle = fill;
      pixel.fillRect(0, 0, 1, 1);
    }
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const cell = getComputedStyle(text.previousElementSibling);
  const paper = getComputedStyle(document.body).backgroundColor;
  return [painted([getComputedStyle(text).fill, 1]), painted([paper, 1], [cell.fill, cell.fillOpacity])];
})"""


@pytest.fixture(scope="module")
def address(browser, request, tmp_path_factory):
    folder = request.getfixturevalue("study_folder")  # by name: without a browser nobody needs it
    return report(folder, out=tmp_path_factory.mktemp("page") / "report.html").as_uri()


@pytest.fixture(scope="module")
def run_address(browser, request, tmp_path_factory):
    folder = request.getfixturevalue("v12_run")
    return report(folder, out=tmp_path_factory.mktemp("page") / "report.html").as_uri()


@pytest.fixture(scope="module")
def crowd_address(browser, request, tmp_path_factory):
    """A run of 50 clients."""
    folder = tmp_path_factory.mktemp("page") / "crowd"
    with_many_clients(request.getfixturevalue("v12_run"), folder, 50)
    return report(folder).as_uri()


@pytest.fixture(scope="module")
def axe():
    """axe-core, of which nothing is kept here: `make setup` brings it where there is npm, or MOORING_AXE names it."""
    here = (Path(os.environ.get("MOORING_AXE", AXE)), Path(__file__).parents[2] / ".venv" / AXE)
    found = next((path for path in here if path.is_file()), None)
    return found.read_text("utf-8") if found else pytest.skip("the report page by axe-core: it is not installed")


@pytest.fixture(scope="module")
def heard():
    """What the console said and what was requested, over all tests."""
    return {"console": [], "requests": []}


@pytest.fixture(scope="module")
def opened(browser, address, heard):
    page = browser.new_page()
    page.on("console", lambda message: heard["console"].append(message.text))
    page.on("pageerror", lambda error: heard["console"].append(str(error)))
    page.on("request", lambda request: heard["requests"].append(request.url))
    page.set_viewport_size(DESKTOP)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    return page


@pytest.fixture
def page(opened):
    """The page as it opens: at desktop width, light, the first run chosen."""
    yield opened
    opened.evaluate("delete document.documentElement.dataset.theme")
    opened.set_viewport_size(DESKTOP)
    opened.emulate_media(color_scheme="light")
    opened.locator("#tools select").select_option(index=0)
    opened.wait_for_timeout(150)


def shown_charts(page):
    return page.locator("figure:not([hidden]) .chart")


def drawn(chart):
    """Scrolled to, a chart has marks: lines, dots or cells."""
    chart.scroll_into_view_if_needed()
    chart.locator(".trace path[d^=M], .trace circle, .mean, .cell").first.wait_for(state="attached")
    return True


def test_it_opens_without_a_word_and_without_a_request(page, heard, address):
    assert heard["console"] == []
    assert [url for url in heard["requests"] if url != address and not url.startswith(("data:", "blob:"))] == []


def test_every_chart_that_is_shown_is_drawn(page):
    charts = shown_charts(page)
    assert charts.count() >= 10
    assert all(drawn(charts.nth(i)) for i in range(charts.count()))


def test_a_study_opens_with_its_counts_and_its_claims_by_subject(page):
    assert page.locator("h1").inner_text() == "Five </script>"
    heights = [
        page.locator(what).first.bounding_box()["y"]
        for what in (".cards", ".verdicts", ".story", ".picture", "section")
    ]
    assert heights == sorted(heights)
    assert page.locator(".verdicts li").first.inner_text().startswith("confirmed")
    assert [text.split()[0] for text in page.locator(".subject").all_inner_texts()][:2] == ["Lambda", "Accuracy"]
    claim = page.locator(".claim").first
    assert not claim.locator("q").is_visible()
    claim.locator("summary").click()
    assert claim.locator("q").is_visible()
    claim.locator("summary").click()


def test_the_legend_hides_and_shows_a_family_of_lines(page):
    figure = page.locator("#training figure:not([hidden])").filter(has_text="Lambda of every client").first
    chart, entry = figure.locator(".chart"), page.locator("#tools .legend button").first
    assert drawn(chart)
    before = chart.locator(".trace").count()
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    assert chart.locator(".trace").count() == before - 2  # lambda and lambda* of the client
    entry.click()
    assert chart.locator(".trace").count() == before


def test_a_pointer_over_a_chart_tells_the_values(page):
    chart = shown_charts(page).first
    chart.scroll_into_view_if_needed()
    chart.hover()
    assert page.locator("#tip").is_visible()
    assert page.locator("#tip div span").first.inner_text()
    page.locator("h1").hover()
    assert not page.locator("#tip").is_visible()


def test_another_run_can_be_chosen_and_all_sections_follow(page):
    select = page.locator("select")
    assert select.count() == 1
    runs = select.locator("option").all_inner_texts()
    assert runs[:2] == ["v7, seed 1", "v12, seed 1"]
    select.select_option(runs[1])
    for section in ("#training", "#prototypes"):
        assert set(page.locator(f"{section} figure:not([hidden]) .of").all_inner_texts()) == {runs[1]}
    charts = shown_charts(page)
    assert all(drawn(charts.nth(i)) for i in range(charts.count()))


def test_every_table_can_be_downloaded_as_csv(page, tmp_path):
    links = page.locator("a.csv")
    assert links.count() == page.locator("table").count()
    with page.expect_download() as waiting:
        links.first.click()
    assert waiting.value.suggested_filename == "results.csv"
    waiting.value.save_as(tmp_path / "results.csv")
    rows = list(csv.DictReader(StringIO((tmp_path / "results.csv").read_text())))
    assert float(rows[1]["accuracy"]) == pytest.approx(0.4)
    for link in links.all():
        text = b64decode(link.get_attribute("href").partition(",")[2]).decode()
        assert len(list(csv.reader(StringIO(text)))) >= 2


def paper(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def tick(page):
    assert drawn(shown_charts(page).first)
    return page.evaluate("getComputedStyle(document.querySelector('.tick')).fill")


def test_dark_mode_follows_the_system_and_the_button(page):
    light = paper(page), tick(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(100)
    dark = paper(page), tick(page)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    page.locator("#theme").click()
    assert (paper(page), tick(page)) == light


def sketched(page, figure, width, found):
    """What the JavaScript function `found` finds in a figure that is drawn for it alone."""
    return page.evaluate(DRAWING % found, [figure, width])


def texts(which):
    return f"(place) => [...place.querySelectorAll('{which}')].map((text) => text.textContent)"


def matrix(values, *, whole=False, rows=None):
    names = [str(i) for i in range(len(values[0]))]
    rows = rows or [str(i) for i in range(len(values))]
    told = {"x": "predicted class", "y": "true class", "columns": names, "rows": rows}
    return {"kind": "heat", "values": values, "whole": whole, **told}


def upright_ticks(page, values, *, log):
    """Of the axis that stands; each has its line."""
    line = {"name": "a", "entry": "a", "colour": 0, "style": "solid", "at": 0, "y": values}
    figure = {
        "kind": "curves",
        "x": "round",
        "y": "lambda",
        "log": log,
        "xs": [[0, 1]],
        "lines": [line],
        "panels": [[0]],
    }
    return sketched(page, figure, 600, texts(".grid + .tick"))


@pytest.mark.parametrize(
    ("values", "shown"), [([9, 220], {"10", "20", "50", "100", "200"}), ([1.03, 1.07], {"1.0", "1.2"})]
)
def test_ticks_of_a_logarithmic_axis_can_be_read(page, values, shown):
    """10 was written as 1, and where no power of ten lay between the values there was nothing at all."""
    assert shown <= set(upright_ticks(page, values, log=True))


@pytest.mark.parametrize("log", [True, False])
def test_an_upright_axis_has_three_ticks_that_differ(page, log):
    lowest = (3e-7, 0.11, 0.4, 1.03, 4.1, 980, 51_000)
    for low, factor in product(lowest, (1, 1.001, 1.3, 2.2, 4, 9, 70, 110, 3e4, 1e12)):
        ticks = upright_ticks(page, [low, low * factor], log=log)
        assert len(set(ticks)) == len(ticks) >= 3, (low, factor, ticks)


@pytest.mark.parametrize("width", [PHONE, COLUMN])
@pytest.mark.parametrize("rows", [None, [f"learned · v{i}-separate" for i in range(10)]])
def test_cells_of_ten_classes_have_their_numbers(page, width, rows):
    """On a phone and on paper nobody has a pointer to ask with."""
    shares = [[1.0 if i == j else 0.05 for j in range(10)] for i in range(10)]
    shown = sketched(page, matrix(shares, rows=rows), width, texts(".value"))
    assert len(shown) == 100
    assert set(shown) == {"1.0", ".05"}
    boxes = "(place) => [...place.querySelectorAll('.value')].map((text) => [text, text.previousElementSibling]"
    fits = boxes + ".map((part) => part.getBoundingClientRect().width))"
    assert all(number <= cell for number, cell in sketched(page, matrix(shares, rows=rows), width, fits))


def test_the_confusion_of_a_run_has_its_numbers_on_a_phone(page):
    page.set_viewport_size({"width": 375, "height": 800})
    chart = page.locator("figure:not([hidden])").filter(has_text="Confusion").first.locator(".chart")
    assert drawn(chart)
    page.wait_for_function("(chart) => chart.clientWidth === Number(chart.dataset.width)", arg=chart.element_handle())
    seen = "cells => cells.filter((cell) => cell.style.fillOpacity > 0).length"
    assert chart.locator(".value").count() == chart.locator(".cell").evaluate_all(seen) > 0


def luminance(colour):
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_cells_of_any_strength_can_be_read(page, scheme):
    page.emulate_media(color_scheme=scheme)
    shares = [[(10 * i + j + 1) / 100 for j in range(10)] for i in range(10)]
    colours = sketched(page, matrix(shares), 600, COLOURS)
    assert len(colours) == 100
    assert min(contrast(text, cell) for text, cell in colours) >= READABLE


def test_a_share_has_one_colour_in_every_matrix_and_counts_say_their_scale(page):
    strengths = "(place) => [...place.querySelectorAll('.cell')].map((cell) => Number(cell.style.fillOpacity))"
    assert sketched(page, matrix([[0.5, 0.25]]), 600, strengths) == [0.5, 0.25]
    assert sketched(page, matrix([[0.5, 1.0]]), 600, strengths) == [0.5, 1.0]
    counts = matrix([[1, 4]], whole=True)
    assert sketched(page, counts, 600, strengths) == [0.25, 1.0]
    assert "full colour: 4" in sketched(page, counts, 600, texts(".title"))


def test_charts_of_clients_share_one_legend_and_every_chart_has_a_role_and_a_title(page):
    assert page.locator("#tools .legend").count() == 1
    assert page.locator("#training figure[data-of]:not([data-of='']) .legend").count() == 0
    charts = page.locator("figure:not([hidden]) .chart > svg")
    assert charts.evaluate_all(
        "all => all.every((svg) => svg.getAttribute('role') === 'img' && svg.querySelector('title').textContent)"
    )


def test_a_heading_sorts_its_table_up_and_down(page):
    table = page.locator("#table-results table")
    head = table.locator("th").filter(has_text="accuracy").first
    column = "all => all.map((row) => parseFloat(row.cells[1].textContent))"
    for order in ("descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        shown = table.locator("tbody tr").evaluate_all(column)
        assert len(shown) > 1
        assert shown == sorted(shown, reverse=order == "descending")


@pytest.mark.parametrize("width", [375, 768, 1200])
def test_nothing_scrolls_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function(f"document.documentElement.scrollWidth <= {width}")
    chart = shown_charts(page).first
    assert drawn(chart)
    fits = f"(chart) => chart.querySelector('svg').getBoundingClientRect().right <= {width}"
    page.wait_for_function(fits, arg=chart.element_handle())


def test_it_prints_in_light_on_paper_width_and_breaks_no_chart(page):
    page.emulate_media(color_scheme="dark", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert paper(page) == "rgb(255, 255, 255)"
    charts = page.locator("figure:not([hidden]) .chart svg")
    assert charts.count() >= 10
    assert max(int(width) for width in charts.evaluate_all("all => all.map((svg) => svg.getAttribute('width'))")) <= 660
    kept = "all => all.every((figure) => getComputedStyle(figure).breakInside === 'avoid')"
    assert page.locator("figure").evaluate_all(kept)
    assert page.locator(".claim[open]").count() == page.locator(".claim").count()
    assert not any(part.is_visible() for part in page.locator("details:not([open])").all())
    assert page.locator("#tools .legend").is_visible()
    page.set_viewport_size({"width": ON_PAPER, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= ON_PAPER
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(color_scheme="light", media="screen")
    assert page.locator(".claim[open]").count() == 0
    assert page.pdf(format="A4").startswith(b"%PDF-")


def test_still_no_word_and_no_request_at_the_end(page, heard, address):
    assert heard["console"] == []
    assert {url for url in heard["requests"] if not url.startswith(("data:", "blob:"))} == {address}


REMARKS = """() => {
    const line = (entry, last, colour, style, text) =>
        ({ name: entry, entry, at: 0, y: [0.5, 0.6, last], colour, style, remarks: [[3, last, text]] });
    const lines = [line("a", 0.30, 0, "solid", "0.300 (-30.0 points)"), line("b", 0.29, 1, "dashed", "local-only")];
    const figure = { kind: "curves", x: "round", y: "accuracy", log: false, xs: [[1, 2, 3]], panels: [[0, 1]], lines };
    const chart = document.body.appendChild(document.createElement("div"));
    charts.draw(figure, chart, 400);
    const found = [...chart.querySelectorAll(".remark")].map((text) => text.getBoundingClientRect());
    chart.remove();
    return found.map((box) => [box.left, box.right, box.top, box.bottom]);
}"""


def test_remarks_in_a_chart_never_cover_each_other(page):
    """The end of a line, and the end of local-only at nearly the same height."""
    (left, right, top, bottom), (other_left, other_right, other_top, other_bottom) = page.evaluate(REMARKS)
    assert right <= other_left or other_right <= left or bottom <= other_top + 2 or other_bottom <= top + 2


def test_no_option_of_a_command_is_broken_at_its_hyphens(page):
    words = page.locator(".paste code span")
    assert words.count()
    assert set(words.evaluate_all("all => all.map((word) => getComputedStyle(word).display)")) == {"inline-block"}


@pytest.fixture(scope="module", params=["study", "run", "crowd"])
def wide_page(opened, request):
    """A page of each kind at 1280 wide; the last tests, since they leave the page."""
    opened.set_viewport_size({"width": 1280, "height": 900})
    opened.goto(request.getfixturevalue(ADDRESSES[request.param]))
    opened.wait_for_selector("html[data-ready]")
    return request.param, opened


def test_it_is_short(wide_page):
    kind, page = wide_page
    assert 1_000 < page.evaluate("document.documentElement.scrollHeight") <= HIGHEST[kind]


@pytest.mark.parametrize("number", NOTED)
def test_a_study_of_a_note_is_short(opened, request, tmp_path, number):
    """Its experiments, claims and tables are those of the note; its runs are copies of one."""
    noted(number, request.getfixturevalue("v12_run"), tmp_path)
    opened.set_viewport_size({"width": 1280, "height": 900})
    opened.goto(report(tmp_path).as_uri())
    opened.wait_for_selector("html[data-ready]")
    assert 4_000 < opened.evaluate("document.documentElement.scrollHeight") <= HIGHEST["study"]


def test_axe_finds_nothing_serious(wide_page, axe):
    """In light and dark, and on a phone; `serious` and `critical` are axe's own words."""
    kind, page = wide_page
    page.evaluate(axe)
    found = []
    for width, scheme in ((1280, "light"), (1280, "dark"), (375, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [(kind, width, scheme, row["id"]) for row in told["violations"] if row["impact"] in SERIOUS]
    assert found == []
