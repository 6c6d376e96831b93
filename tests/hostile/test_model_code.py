"""A model may name code of its maker's own: it is imported only if whoever asks the model says to trust it."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from models import predictor_of, write_held_out

from mooring import load_model
from mooring.config import ALL_CODE
from mooring.errors import ModelError, TrustError
from mooring.federation._model_file import Provenance, save_model

OWN = """
from pathlib import Path

from mooring.fusion._frozen_features import FrozenFeatures

Path("executed").touch()


class Mine(FrozenFeatures):
    kind = "mine"


NUMBER = 3
"""
VERBS = {
    "predict": ["predict", "m.mooring", "held"],
    "evaluate": ["evaluate", "m.mooring", "--data", "held"],
    "model-card": ["model-card", "m.mooring"],
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The name of a module in the current folder, and beside it a model that was made with it."""
    name = f"own_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    predictor = predictor_of()
    predictor.__class__ = import_module(name).Mine
    save_model(tmp_path / "m.mooring", predictor, Provenance())
    write_held_out(tmp_path / "held")
    sys.modules.pop(name)
    sys.path.remove(str(tmp_path))
    Path("executed").unlink()
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS)
def test_a_model_runs_no_code_that_it_names(own, cli, words):
    code, out, err = cli(*words)
    told = f"the model names {own}:Mine, code that is not part of mooring; add --trust-code if you trust this model"
    assert (code, out, err) == (2, "", f"error: {told}\n")
    assert not Path("executed").exists()


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS)
def test_the_remedy_that_is_told_works_where_the_code_lies(own, cli, words):
    code, out, err = cli(*words, "--trust-code")
    assert (code, err) == (0, "")
    assert out
    assert Path("executed").exists()


def test_inspect_needs_no_code(own, cli):
    assert cli("inspect", "m.mooring")[0] == 0
    assert not Path("executed").exists()


def test_code_that_lies_elsewhere_is_asked_for_in_one_line(own, cli, tmp_path):
    (tmp_path / f"{own}.py").unlink()
    code, _, err = cli("predict", "m.mooring", "held", "--trust-code")
    told = f"{own}:Mine: cannot be imported (No module named '{own}'); go to the folder where its file lies"
    assert (code, told in err, err.count("\n")) == (2, True, 1)


def test_python_hands_over_the_class_or_says_whose_code_it_trusts(own):
    with pytest.raises(TrustError, match=own):
        load_model("m.mooring")
    assert not Path("executed").exists()
    assert type(load_model("m.mooring", trust=ALL_CODE).predictor).__name__ == "Mine"
    assert load_model("m.mooring", trusted=[sys.modules[own].Mine]).predictor.kind == "mine"


def test_what_is_no_class_is_no_predictor(own, tmp_path):
    code = (tmp_path / f"{own}.py").read_text()
    (tmp_path / f"{own}.py").write_text(code.replace("class Mine(FrozenFeatures):", "Mine = 3\nclass Other:"))
    with pytest.raises(ModelError, match=f"{own}:Mine is not a class"):
        load_model("m.mooring", trust=ALL_CODE)
