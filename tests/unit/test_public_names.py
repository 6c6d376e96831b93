"""What `from mooring import ...` gives: some thirty names, sorted, each with an example that holds."""

import doctest
import shutil
from types import ModuleType

import pytest

import mooring
from mooring import client, config, data, federation, fusion, record, sweeps

EXAMPLES = doctest.DocTestFinder(recurse=False)
VALUES = {"METHODS"}  # a dictionary has no docstring of its own: the package's example shows it
ROOMS = [client, config, data, federation, fusion, record, sweeps]


@pytest.fixture(scope="module")
def desk(v12_run, tmp_path_factory):
    """A folder with a finished run, as the examples name it."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(v12_run, folder / "runs/v12")
    return folder


def examples(thing, name):
    return [found for found in EXAMPLES.find(thing, name, globs={}) if found.examples]


@pytest.mark.parametrize("name", ["mooring", *mooring.__all__])
def test_a_public_name_has_an_example_that_holds(name, desk, monkeypatch):
    monkeypatch.chdir(desk)
    thing = mooring if name == "mooring" else getattr(mooring, name)
    found = examples(thing, name)
    if name in VALUES:
        assert name in mooring.__doc__
        return
    assert len(found) == 1, f"{name}: no example in its docstring"
    outcome = doctest.DocTestRunner().run(found[0])
    assert outcome.attempted > 1
    assert outcome.failed == 0, "see above"


def test_names_are_sorted_constants_first_then_classes_then_functions():
    def place(name):
        return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)

    assert mooring.__all__ == sorted(mooring.__all__, key=place)


def test_the_package_gives_what_it_names_and_nothing_else():
    assert dir(mooring) == sorted(mooring.__all__)
    assert 25 <= len(mooring.__all__) <= 42
    assert not any(isinstance(getattr(mooring, name), ModuleType) for name in mooring.__all__)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = mooring.no_such_name


def test_a_public_name_of_the_package_is_none_of_its_rooms():
    rooms = {room.__name__.rpartition(".")[2] for room in ROOMS}
    assert rooms.isdisjoint(mooring.__all__)
