import pytest
from disturbance import undisturbed

SETTINGS = ["method=v12", "data.limit=600", "training.rounds=3", "training.local_epochs=2"]


@pytest.fixture(scope="package")
def settings():
    return SETTINGS


@pytest.fixture(scope="package")
def original(tmp_path_factory):
    """The run as it is when nothing happens to it."""
    return undisturbed(SETTINGS, tmp_path_factory.mktemp("original") / "run")
