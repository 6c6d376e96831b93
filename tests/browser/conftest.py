"""One browser for each file of tests; without one they are skipped, and one line says so."""

import shutil

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WHAT = "pages in a browser"


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
