"""Statistics over an encoder that somebody has trained before."""

import json

import pytest
from safetensors.torch import load_file, save_file

from mooring import METHODS, load, run


@pytest.fixture
def encoder(tmp_path):
    """A client's upload is an encoder file."""
    run(load(overrides=["method=v4", "training.rounds=1", "engine.workers=1", f"out={tmp_path / 'v4'}"])[0])
    return tmp_path / "v4" / "uploads" / "round-000" / "client-0000.safetensors"


def settings(encoder):
    return ["method=afl", "fusion.map.kind=encoder-file", f"fusion.map.path={encoder}", "out=here"]


def test_a_trained_encoder_serves_every_client(cli, encoder):
    [experiment] = load(overrides=settings(encoder))
    assert experiment.method.track == "frozen encoder"
    assert METHODS["afl"].track == "statistics only"
    code, out, err = cli("run", *settings(encoder), "--json")
    assert code == 0, err
    assert json.loads(out)["accuracy"] > 0.5
    assert cli("doctor", "here")[0] == 0


def test_another_file_under_the_same_name_is_noticed(cli, encoder):
    assert cli("run", *settings(encoder), "--quiet")[0] == 0
    assert cli("run", *settings(encoder), "--quiet")[0] == 0
    tensors = load_file(encoder)
    save_file({name: tensor * 2 for name, tensor in tensors.items()}, encoder)
    code, _, err = cli("run", *settings(encoder), "--quiet")
    assert code == 2
    assert "the frozen encoder's file has changed since this result" in err


def test_a_missing_encoder_is_told_before_anything_runs(cli, tmp_path):
    code, _, err = cli("run", *settings(tmp_path / "nowhere.safetensors"))
    assert code == 2
    assert "nowhere.safetensors: cannot be read" in err
    assert not (tmp_path / "here").exists()
