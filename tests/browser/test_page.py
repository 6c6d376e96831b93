"""The page in a real browser: it opens from disk, fetches nothing, and everything on it works."""

import csv
import shutil
from base64 import b64decode
from io import StringIO

import pytest

from mooring import report

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DESKTOP = {"width": 1200, "height": 900}
WHAT = "the report page in a browser"


@pytest.fixture(scope="module")
def chromium():
    return next(filter(None, map(shutil.which, NAMES)), None) or pytest.skip(f"{WHAT}: no chromium on the PATH")


@pytest.fixture(scope="module")
def browser(chromium, tmp_path_factory):
    api = pytest.importorskip("playwright.sync_api", reason=f"{WHAT}: playwright is not installed")
    profile = tmp_path_factory.mktemp("profile")
    with api.sync_playwright() as playwright:
        try:
            context = playwright.chromium.launch_persistent_context(
                profile, executable_path=chromium, args=list(FLAGS), accept_downloads=True, color_scheme="light"
            )
        except api.Error:
            pytest.skip(f"{WHAT}: {chromium} cannot be started")
        yield context
        context.close()


@pytest.fixture(scope="module")
def address(browser, request, tmp_path_factory):
    folder = request.getfixturevalue("study_folder")  # by name: without a browser nobody needs it
    return report(folder, out=tmp_path_factory.mktemp("page") / "report.html").as_uri()


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
    opened.locator("#losses select").select_option(index=0)
    opened.wait_for_timeout(300)


def shown_charts(page):
    return page.locator("figure:not([hidden]) .chart")


def drawn(chart):
    """Scrolled to, a chart has marks: lines, bars or cells."""
    chart.scroll_into_view_if_needed()
    chart.locator(".scatterlayer .trace, .barlayer .point, .heatmaplayer image").first.wait_for(state="attached")
    return True


def test_it_opens_without_a_word_and_without_a_request(page, heard, address):
    assert heard["console"] == []
    assert [url for url in heard["requests"] if url != address and not url.startswith(("data:", "blob:"))] == []


def test_every_chart_that_is_shown_is_drawn(page):
    charts = shown_charts(page)
    assert charts.count() >= 10
    assert all(drawn(charts.nth(i)) for i in range(charts.count()))


def test_headline_and_verdicts_come_first(page):
    assert page.locator("h1").inner_text() == "Five </script>"
    assert page.locator(".verdicts li").first.inner_text().startswith("confirmed")
    assert page.locator(".verdicts").bounding_box()["y"] < page.locator("section").first.bounding_box()["y"]


def test_the_legend_hides_and_shows_a_family_of_lines(page):
    chart = page.locator("#lambda figure:not([hidden]) .chart").last
    assert drawn(chart)
    faded = ".legend .traces[style*='opacity: 0.5']"
    assert chart.locator(faded).count() == 0
    before = chart.locator(".scatterlayer .trace").count()
    chart.locator(".legendtoggle").first.click()
    page.wait_for_timeout(800)  # longer than the double click that plotly waits for
    assert chart.locator(faded).count() == 1
    assert chart.locator(".scatterlayer .trace").count() == before - 2  # lambda and lambda* of the client
    chart.locator(".legendtoggle").first.click()
    page.wait_for_timeout(800)
    assert chart.locator(".scatterlayer .trace").count() == before


def test_another_run_can_be_chosen_and_all_sections_follow(page):
    select = page.locator("#lambda select")
    runs = select.locator("option").all_inner_texts()
    assert len(runs) == 2
    select.select_option(runs[1])
    assert page.locator("#losses select").input_value() == runs[1]
    assert page.locator("#lambda figure:not([hidden]) .of").all_inner_texts() == [runs[1]]
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
    return page.evaluate("getComputedStyle(document.querySelector('.xtick text')).fill")


def test_dark_mode_follows_the_system_and_the_button(page):
    light = paper(page), tick(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(100)
    dark = paper(page), tick(page)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    page.locator("#theme").click()
    assert (paper(page), tick(page)) == light


@pytest.mark.parametrize("width", [375, 768, 1200])
def test_nothing_scrolls_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function(f"document.documentElement.scrollWidth <= {width}")
    chart = shown_charts(page).first
    assert drawn(chart)
    fits = f"(chart) => chart.querySelector('svg.main-svg').getBoundingClientRect().right <= {width}"
    page.wait_for_function(fits, arg=chart.element_handle())


def test_it_prints_in_light_on_paper_width(page):
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(100)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    widths = page.evaluate(
        "[...document.querySelectorAll('figure:not([hidden]) .chart')].map((c) => c._fullLayout.width)"
    )
    assert max(widths) <= 660
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") is None
    assert len(page.pdf(format="A4")) > 50_000


def test_still_no_word_and_no_request_at_the_end(page, heard, address):
    assert heard["console"] == []
    assert {url for url in heard["requests"] if not url.startswith(("data:", "blob:"))} == {address}
