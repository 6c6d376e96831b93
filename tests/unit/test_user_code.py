"""Whose mistake was it? The user's is one line with file and line; ours keeps its traceback."""

import pickle
import shutil
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import ClassVar

import pytest
import torch

from mooring import fuse, run_experiment
from mooring.client import ClientRecipe
from mooring.client._recipe import Stage
from mooring.config import load
from mooring.data._clients import resized
from mooring.errors import ConfigError, TrainingError, UserCodeError
from mooring.events import EpochRecord, FusionBegan, PartitionDrawn
from mooring.fusion import RegMean
from mooring.losses import CrossEntropy, require_scalar
from mooring.record import user_errors_kept
from mooring.schedules import at
from mooring.types import Progress
from mooring.user_code import Place, blame, explained, explaining, place_of, returned

NUMBERS = count()
LAB = """import torch
from mooring.schedules import at

def raises(progress=None):
    raise ValueError("two\\nlines")

def misuses_torch(progress):
    return torch.zeros(2) @ torch.zeros(3)

def misuses_the_house(progress):
    return at("no such schedule", progress)

def silent(progress):
    assert progress is None
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user's, in a folder below the current one."""

    def write(folder="."):
        name = f"code_{next(NUMBERS)}"
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / f"{name}.py").write_text(LAB)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path / folder)
        return import_module(name)

    return write


def called_by_the_house(function):
    ClientRecipe((), stages=(Stage(function, ()),)).stage(Progress())


def failed(function):
    """The error of a user's function that the house has called."""
    with pytest.raises(Exception) as caught:
        called_by_the_house(function)
    return caught.value


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("raises", 5, "ValueError: two lines"),
        ("misuses_torch", 8, "RuntimeError: inconsistent tensor size"),
        ("silent", 14, "AssertionError"),
    ],
)
def test_the_users_line_is_named(module, name, line, told):
    lab = module()
    error = failed(getattr(lab, name))
    assert blame(error) == Place(lab.__file__, line)
    problem = explained(error, "client 3, round 0").problem
    assert problem.startswith(f"{lab.__name__}.py:{line}: {told}")
    assert problem.endswith(" (in client 3, round 0)")
    assert "\n" not in problem


def test_what_goes_wrong_in_the_house_is_the_houses(module):
    assert blame(failed(module().misuses_the_house)) is None
    with pytest.raises(KeyError) as caught:
        at("no such schedule", Progress())
    assert blame(caught.value) is None
    with pytest.raises(AttributeError) as library:
        resized("no tensor", 2, 2)  # torch raises, and we have called it
    assert blame(library.value) is None


def test_code_that_is_installed_is_the_users_too(module):
    lab = module("site-packages")
    assert blame(failed(lab.raises)) == Place(lab.__file__, 5)


def test_a_library_of_the_user_is_not_where_the_user_must_look(module, tmp_path, monkeypatch):
    library = module("site-packages")
    (tmp_path / "mine_and_theirs.py").write_text(
        f"import {library.__name__}\n\ndef f(*_):\n    {library.__name__}.raises()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    mine = import_module("mine_and_theirs")
    assert blame(failed(mine.f)) == Place(mine.__file__, 4)


def test_within_a_block_errors_are_explained_and_others_pass(module):
    lab = module()
    with pytest.raises(UserCodeError) as caught, explaining("client 2, round 1"):
        called_by_the_house(lab.raises)
    assert str(caught.value) == f"{lab.__name__}.py:5: ValueError: two lines (in client 2, round 1)"
    assert isinstance(caught.value.__cause__, ValueError)
    assert "Traceback (most recent call last)" in caught.value.trace
    for other in (TrainingError("nan", "lower it"), KeyboardInterrupt()):
        with pytest.raises(type(other)), explaining("client 2"):
            raise other
    with pytest.raises(KeyError), explaining():
        at("no such schedule", Progress())


def test_an_explained_error_survives_the_way_from_a_worker(module):
    told = explained(failed(module().raises), "client 3, round 0")
    again = pickle.loads(pickle.dumps(told))
    assert (str(again), again.trace, again.exit_code) == (str(told), told.trace, 2)


def test_the_traceback_is_kept_in_the_run_folder(module, tmp_path):
    lab = module()
    (tmp_path / "run").mkdir()
    with pytest.raises(UserCodeError) as caught, user_errors_kept(tmp_path / "run"):
        called_by_the_house(lab.raises)
    assert caught.value.remedy == f"the whole traceback is in '{tmp_path / 'run/error.txt'}'"
    assert "in raises" in (tmp_path / "run/error.txt").read_text()


def test_a_run_that_never_began_leaves_nothing_behind(module, tmp_path):
    lab = module()
    with pytest.raises(UserCodeError), user_errors_kept(tmp_path / "run"):
        called_by_the_house(lab.raises)
    assert not (tmp_path / "run").exists()


class OverheardError(Exception):
    """Of a caller's own."""


SMALL = ["data.limit=60", "partition.clients=2", "training.rounds=1", "training.local_epochs=1"]


RAISED = [OverheardError("mine"), TrainingError("also mine"), RuntimeError("can't allocate memory")]


@pytest.mark.parametrize("error", RAISED, ids=repr)
@pytest.mark.parametrize("moment", [PartitionDrawn, EpochRecord, FusionBegan])
def test_what_a_callers_emit_raises_comes_through_as_it_is(error, moment, tmp_path):
    """It is no mistake of a part, and no failure of a client."""

    def emit(event):
        if isinstance(event, moment):
            raise error

    (experiment,) = load(overrides=["method=v7", *SMALL, "engine.workers=1", f"out={tmp_path / 'run'}"])
    with pytest.raises(type(error)) as caught:
        run_experiment(experiment, emit)
    assert caught.value is error
    assert error.__context__ is error.__cause__ is None
    assert not (tmp_path / "run" / "error.txt").exists()
    assert run_experiment(experiment).complete  # it was an interruption, and no more


def test_what_a_callers_emit_raises_while_fusing_comes_through_as_it_is(v12_run, tmp_path):
    shutil.copytree(v12_run, tmp_path / "run")

    def emit(event):
        raise OverheardError(event.text)

    with pytest.raises(OverheardError, match="the training images are opened"):
        list(fuse(tmp_path / "run", [RegMean()], emit=emit))


@dataclass(frozen=True)
class Vector:
    kind: ClassVar[str] = "vector"

    def __call__(self, step):
        return torch.zeros(32)


def test_a_loss_that_is_no_single_number():
    assert require_scalar(CrossEntropy(), torch.tensor(3.0)) == 3
    place = place_of(Vector.__call__)
    assert place.file == __file__
    with pytest.raises(UserCodeError) as caught:
        require_scalar(Vector(), Vector()(None))
    assert str(caught.value) == (
        f"{place}: the loss 'vector' returned shape (32,), a single number is needed; return loss.mean()"
    )
    with pytest.raises(UserCodeError, match="the loss 'vector' returned a float, a single number is needed"):
        require_scalar(Vector(), 3.0)


def test_what_a_method_returned_is_what_it_promised():
    tensor = torch.zeros(2)
    assert returned(tensor, torch.Tensor, Vector(), "__call__") is tensor
    with pytest.raises(UserCodeError) as caught:
        returned(3, torch.nn.Module, Vector(), "__call__")
    assert str(caught.value) == f"{place_of(Vector.__call__)}: Vector.__call__ returned int; return a Module"


def test_the_house_keeps_its_own_words():
    """A MooringError that the user's code raises, or runs into, is told already."""
    with pytest.raises(ConfigError, match="seed=-1: must be"), explaining("the server"):
        load(None, ["seed=-1"])
