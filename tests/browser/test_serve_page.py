"""The page of `mooring serve` in a real browser: an image goes in, a class comes out, and nothing else is asked for."""

from dataclasses import replace

import pytest
from models import TOLD, model
from served import picture, served

from mooring.federation._calibration import Calibration, Targets


@pytest.fixture(scope="module")
def chosen(browser):
    """The page, what its console said and what it requested."""
    with served(model(TOLD)) as server:
        page, said, asked = browser.new_page(), [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(server.address)
        page.wait_for_selector("html[data-ready]")
        yield page, said, asked, server


def choose(page, name, data, kind="image/png"):
    page.set_input_files("#file", {"name": name, "mimeType": kind, "buffer": data})


def test_an_image_gets_a_class_and_every_class_a_bar(chosen):
    page, said, asked, server = chosen
    choose(page, "a <b>.png", picture((64, 48)))
    page.wait_for_selector("#answer:not([hidden])")
    found = server.post(picture((64, 48)))[1]
    assert page.locator("#class").inner_text() == found["class"]
    assert page.locator("#share").inner_text().startswith("probability ")
    assert sorted(page.locator("#bars .label").all_inner_texts()) == ["one", "seven", "zero"]
    page.wait_for_selector("#preview", state="visible")
    assert page.locator("#name").inner_text() == "a <b>.png"
    page.locator("#explain").click()
    page.wait_for_selector("#why img[src]", state="visible")
    assert page.locator("#why img").evaluate("async (img) => (await img.decode(), img.naturalWidth)") == 384
    assert said == []
    assert {url for url in asked if not url.startswith(("blob:", "data:"))} == {
        f"{server.address}/{path}" for path in ("", "model", "predict", "explain")
    }


def test_what_is_no_image_or_too_large_is_said_on_the_page(chosen):
    page, _, _, _ = chosen
    choose(page, "scan.pdf", b"%PDF", "application/pdf")
    page.wait_for_selector("#error:not([hidden])")
    assert page.locator("#problem").inner_text() == "the file cannot be read as an image"
    assert "send one PNG" in page.locator("#remedy").inner_text()
    assert not page.locator("#answer").is_visible()
    choose(page, "large.png", b"x" * 200_000)
    page.get_by_text("The file is too large").wait_for()
    choose(page, "small.png", picture())
    page.wait_for_selector("#answer:not([hidden])")
    assert not page.locator("#error").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_nothing_scrolls_sideways_and_dark_is_dark(chosen, width, scheme):
    page, _, _, _ = chosen
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_the_model_card_opens_beside_it_without_a_word(chosen):
    page, said, _, server = chosen
    said.clear()
    page.get_by_text("Model card").click()
    page.wait_for_selector("html[data-ready]")
    assert page.url == f"{server.address}/card"
    assert page.locator("h2").first.inner_text() == "Intended use"
    assert said == []


def test_an_unusual_image_and_an_unsure_model_are_said_instead_of_a_class(chosen):
    page, _, _, _ = chosen
    limits = Calibration("ab" * 32, "held", (9, 9, 9), 1.0, Targets(error=0.1), 0.01, 1.0)  # all is unusual and unsure
    with served(replace(model(TOLD), calibration=limits)) as server:
        page.goto(server.address)
        page.wait_for_selector("html[data-ready]")
        choose(page, "noise.png", picture())
        page.wait_for_selector("#warnings:not([hidden])")
        assert page.locator("#class").inner_text() == "No answer"
        unlike, unsure = page.locator("#warnings li").all_inner_texts()
        assert unlike.startswith("It is unlike the images that the model was made from (")
        assert unsure == "The model is too unsure to answer."
        assert "calibrated on 27 images of held" in page.locator("#limits").inner_text()
