"""Statistics over an encoder that somebody has trained before."""

import json

import pytest
from PIL import Image
from safetensors.torch import load_file, save_file

from mooring import METHODS, load, run_experiment


@pytest.fixture
def encoder(tmp_path):
    """A client's upload is an encoder file."""
    run_experiment(load(overrides=["method=v4", "training.rounds=1", "engine.workers=1", f"out={tmp_path / 'v4'}"])[0])
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
    its_model_finds_the_encoder_or_asks_for_it(cli, encoder)


def its_model_finds_the_encoder_or_asks_for_it(cli, encoder):
    """A model names a file of the user's by its hash: it is looked for where the run found it, and nowhere else."""
    Image.new("L", (8, 8), 255).save("white.png")
    code, found, err = cli("predict", "here", "white.png", "--json")
    assert (code, err) == (0, "")
    fused = ("fuse", "here", "--fusion", "analytic", "fusion.map.kind=encoder-file", f"fusion.map.path={encoder}")
    code, out, err = cli(*fused, "--out", "whole.mooring", "--include-encoder")
    assert (code, "model: whole.mooring" in out) == (0, True), err
    encoder.rename("moved.safetensors")
    code, _, err = cli("predict", "here/model.mooring", "white.png")
    assert (code, err.count("\n")) == (2, 1)
    assert "its encoder is a file, sha256:" in err
    assert "and not in the model; name it: --encoder FILE" in err
    code, again, _ = cli("predict", "here", "white.png", "--encoder", "moved.safetensors", "--json")
    assert (code, again) == (0, found)
    code, whole, _ = cli("predict", "whole.mooring", "white.png", "--json")
    assert (code, json.loads(whole)["predictions"]) == (0, json.loads(found)["predictions"])
    encoder.write_bytes(b"another file")
    code, _, err = cli("evaluate", "here", "--data", "nothing")
    assert (code, "is not the encoder of this model; name the file with the SHA-256" in err) == (2, True)


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
