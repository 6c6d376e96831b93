"""Any nn.Module is a model: named on the command line or given in Python, with seeded weights."""

import pickle
import sys

import own_models
import pytest
import torch

from mooring import load, load_model, run_experiment
from mooring.errors import ConfigError, ExtraError, ModelError, TrustError, UserCodeError
from mooring.models import backbone_of
from mooring.schema import to_tree
from mooring.seeds import generator

QUICK = ["method=v4", "training.rounds=1", "training.local_epochs=1", "data.limit=120", "partition.clients=2"]


def one(*words):
    [experiment] = load(overrides=[*QUICK, *words])
    return experiment


def built(factory, shape=(1, 8, 8), seed=0, **arguments):
    return backbone_of(factory)(**arguments).build(shape, generator(seed, "network"))


@pytest.mark.parametrize(("factory", "size"), [(own_models.Plain, 8), (own_models.flat, 12)])
def test_a_plain_module_or_a_function_is_a_backbone_whose_feature_size_is_measured(factory, size):
    encoder, features = built(factory)
    assert features == size
    assert encoder(own_models.images()).shape == (2, size)


def test_its_arguments_are_keys_and_channels_are_those_of_the_images():
    assert built(own_models.Plain, (3, 8, 8), width=5)[1] == 5
    assert to_tree(backbone_of(own_models.Plain)()) == {"kind": "own_models:Plain", "width": 8}
    with pytest.raises(ConfigError, match=r"model\.wide=3: unknown key; did you mean 'width'"):
        one("model=own_models:Plain", "model.wide=3")


def test_a_seed_draws_the_same_weights_and_leaves_the_global_stream_alone():
    torch.manual_seed(5)
    first = built(own_models.Plain)[0].state_dict()
    drawn = torch.rand(1)
    torch.manual_seed(5)
    assert torch.rand(1) == drawn
    again, other = (built(own_models.Plain, seed=seed)[0].state_dict() for seed in (0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["module.conv.weight"], other["module.conv.weight"])


def test_it_goes_to_other_processes_and_builds_on_the_meta_device():
    backbone = pickle.loads(pickle.dumps(backbone_of(own_models.Plain)(width=4)))
    with torch.device("meta"):
        assert backbone.build((1, 8, 8), torch.Generator("cpu"))[1] == 4


def test_a_run_with_it_is_recorded_by_name_and_its_model_predicts(tmp_path):
    words = ["model=own_models:Plain", "model.width=6", "engine.workers=1", f"out={tmp_path / 'run'}"]
    result = run_experiment(one(*words))
    assert result == run_experiment(one(*words))  # the same fingerprint
    assert "kind: own_models:Plain" in (tmp_path / "run/experiment.yaml").read_text()
    model = load_model(tmp_path / "run/model.mooring", trusted=[own_models.Plain])
    assert model.predictor(torch.zeros(3, 1, 8, 8, dtype=torch.uint8)).shape == (3, 10)
    with pytest.raises(TrustError, match="names own_models:Plain, code that is not part of mooring"):
        load_model(tmp_path / "run/model.mooring")


def test_what_is_not_a_model_is_named_with_its_line():
    with pytest.raises(ModelError, match=r"maps one image to tuple; return features \(B, d\)"):
        built(own_models.TwoOutputs)
    with pytest.raises(ConfigError, match=r"own_models.py:\d+: argument depth has no default"):
        backbone_of(own_models.NeedsMore)
    with pytest.raises(
        UserCodeError, match=r"own_models.py:\d+: RuntimeError: .*in model wrong_channels, an image of 1 x 8 x 8"
    ):
        backbone_of(own_models.wrong_channels)().build((1, 8, 8), torch.Generator())


def test_architectures_of_timm_and_torchvision_are_found_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ExtraError, match="timm: is not installed; pip install timm"):
        one("model=timm:resnet18").model.build((1, 8, 8), torch.Generator())
    monkeypatch.setitem(sys.modules, "timm", own_models.timm())
    for name, module in own_models.torchvision().items():
        monkeypatch.setitem(sys.modules, name, module)
    for words, size in (("timm:resnet18", 10), ("torchvision:resnet18", 6)):
        model = one(f"model={words}").model
        assert to_tree(model) == {"kind": words.partition(":")[0], "architecture": "resnet18"}
        encoder, features = model.build((1, 8, 8), torch.Generator())
        assert (features, encoder(own_models.images()).shape) == (size, (2, size))
    with pytest.raises(ModelError, match="timm has no such model; did you mean 'resnet18'"):
        one("model=timm:resnet19").model.build((1, 8, 8), torch.Generator())
    with pytest.raises(ModelError, match="torchvision:fcn: has no classifier"):
        one("model=torchvision:fcn").model.build((1, 8, 8), torch.Generator())


def test_a_library_that_was_built_for_another_torch_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision/__init__.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    with pytest.raises(ExtraError, match=r"torchvision: cannot be imported \(operator .*nms does not exist\)"):
        one("model=torchvision:resnet18").model.build((1, 8, 8), torch.Generator())
