import pytest
import torch

from mooring.client import ClientRecipe, run_client
from mooring.data._sites import InMemorySite
from mooring.losses import CrossEntropy
from mooring.methods import Method
from mooring.models._backbones import BACKBONES, DigitsNet, ResNet8, ResNet18
from mooring.models._feature_maps import (
    ByImages,
    EncoderFeatures,
    OnnxFile,
    Pixels,
    PublicEncoder,
    RandomEncoder,
    RandomFilters,
    WhitenedFilters,
)
from mooring.models._flops import Multiplications, counted_by_torch, feature_flops, forward_flops
from mooring.models._heads import HEADS, FixedSimplex, Linear, RawPrototypes, UnitPrototypes
from mooring.models._network import PROTOTYPES, Blueprint
from mooring.seeds import generator
from mooring.uploads._moments import Moments


def blueprint(backbone, head=RawPrototypes(), shape=(3, 32, 32), classes=10):
    return Blueprint(backbone, head, shape, tuple(map(str, range(classes))), (0.5,), (0.25,))


@pytest.mark.parametrize(("backbone", "d"), [(DigitsNet(), 32), (ResNet8(), 64), (ResNet18(), 512), (ResNet8(0.5), 32)])
def test_feature_sizes(backbone, d):
    network = blueprint(backbone).build(generator(0, "network")).eval()
    assert network.prototypes.shape == (10, d)
    assert network.embed(torch.zeros(2, 3, 32, 32)).shape == (2, d)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 32, 32), (1, 28, 28), (3, 17, 23)])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kind", BACKBONES)
def test_every_model_takes_every_image(kind, head, shape):
    network = blueprint(BACKBONES[kind](width=0.25), HEADS[head](), shape, 3).build(generator(0, "n"))
    view = network(torch.zeros(2, *shape, dtype=torch.uint8))
    assert view.logits.shape == (2, 3)
    torch.testing.assert_close(view.features.norm(dim=1), torch.ones(2))


def test_one_seed_is_one_network_and_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    first, again, other = (blueprint(ResNet8()).build(generator(s, "network")).state_dict() for s in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["encoder.0.weight"], other["encoder.0.weight"])
    assert torch.equal(before, torch.random.get_rng_state())


def test_bytes_and_unit_floats_are_the_same_image():
    network = blueprint(ResNet8()).build(generator(0, "network")).eval()
    image = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8, generator=generator(0, "image"))
    torch.testing.assert_close(network.embed(image), network.embed(image.float() / 255))


def test_published_prototypes_are_standard_normal_and_their_norm_is_the_temperature():
    network = blueprint(ResNet18()).build(generator(0, "network"))
    assert network.prototypes.norm(dim=1).mean().item() == pytest.approx(512**0.5, rel=0.05)


def test_sound_features_can_be_negative_and_published_ones_cannot():
    image = torch.rand(64, 3, 32, 32, generator=generator(0, "image"))
    raw = blueprint(ResNet8(), RawPrototypes()).build(generator(0, "n"))
    unit = blueprint(ResNet8(), UnitPrototypes()).build(generator(0, "n"))
    assert raw.embed(image).min() >= 0
    assert unit.embed(image).min() < 0


def test_sound_logits_ignore_the_norm_of_prototypes():
    network = blueprint(ResNet8(), UnitPrototypes(16.0)).build(generator(0, "n")).eval()
    image = torch.rand(4, 3, 32, 32, generator=generator(0, "image"))
    before = network(image).logits
    with torch.no_grad():
        network.prototypes.mul_(7.0)
    torch.testing.assert_close(network(image).logits, before)
    assert before.abs().max() <= 16.0 + 1e-4


def test_the_name_of_the_prototypes_in_a_state_is_right():
    network = blueprint(ResNet8()).build(generator(0, "network"))
    assert torch.equal(network.state_dict()[PROTOTYPES], network.prototypes)


def test_a_linear_head_sees_the_length_of_a_feature():
    network = blueprint(ResNet8(), Linear()).build(generator(0, "n")).eval()
    image = torch.rand(4, 3, 32, 32, generator=generator(0, "image"))
    f = network.embed(image)
    torch.testing.assert_close(network(image).logits, f @ network.prototypes.T + network.head.bias)
    torch.testing.assert_close(network.view(2 * f).logits, 2 * network.view(f).logits)  # the bias starts at zero


def test_a_fixed_simplex_is_shared_and_never_learns_but_its_scale_does(make_job, shard_of):
    job = make_job(Method(ClientRecipe((CrossEntropy(),), head=FixedSimplex()), None))
    [upload] = run_client(job, InMemorySite(0, shard_of([1, 2], 20)), lambda _: None)
    start = job.blueprint.build(generator(job.seed, "network"))
    prototypes = upload.tensors[PROTOTYPES]
    assert torch.equal(prototypes, start.prototypes)
    cosines = prototypes @ prototypes.T
    torch.testing.assert_close(cosines, torch.eye(10) * (1 + 1 / 9) - 1 / 9, atol=1e-5, rtol=0)
    assert upload.tensors["head.log_scale"] != start.head.log_scale


@pytest.mark.parametrize("head", HEADS)
def test_where_only_shapes_are_asked_for_nothing_is_drawn(head):
    plan, rng = blueprint(DigitsNet(), HEADS[head](), (1, 8, 8)), torch.Generator()
    before = rng.get_state()
    with torch.device("meta"):
        shapes = plan.build(rng).state_dict()
    assert torch.equal(rng.get_state(), before)
    real = plan.build(rng).state_dict()
    assert all(tensor.is_meta for tensor in shapes.values())
    assert {name: tensor.shape for name, tensor in shapes.items()} == {name: real[name].shape for name in real}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kind", BACKBONES)
def test_operations_are_those_that_torch_counts(kind, head):
    whole = blueprint(BACKBONES[kind](width=0.25), HEADS[head](), (3, 17, 23), 3)
    assert forward_flops(whole) == counted_by_torch(whole.build(generator(0, "n")).eval(), (3, 17, 23)) > 0


@pytest.mark.parametrize(
    "features",
    [
        WhitenedFilters(channels=16, filters=24),
        WhitenedFilters(channels=16, filters=24, views="mirrored"),
        RandomFilters(8),
        RandomEncoder(),
        Pixels(),
        PublicEncoder(beside=RandomFilters(4)),
        ByImages(otherwise=RandomFilters(8)),
    ],
    ids=lambda features: features.kind,
)
def test_operations_of_fixed_features_are_those_that_torch_counts(features):
    small = blueprint(ResNet8(width=0.25), shape=(1, 16, 16))
    assert feature_flops(features, small) == counted_by_torch(features.empty(small), (1, 16, 16))
    assert feature_flops(features, small) > 0 or isinstance(features, Pixels)


def test_what_onnxruntime_computes_is_not_taken_for_nothing():
    small = blueprint(ResNet8())
    for features in (EncoderFeatures(), ByImages(), OnnxFile("gone.onnx"), PublicEncoder(beside=EncoderFeatures())):
        assert feature_flops(features, small) is None


@pytest.mark.parametrize("second", ["shared", "per-class", "diagonal"])
def test_operations_of_adding_up_are_those_that_are_done(second, digits):
    """Of pixels there are no others."""
    plan, part = blueprint(DigitsNet(), shape=(1, 8, 8)), Moments(Pixels(), second)
    with Multiplications() as seen:
        part(plan.build(torch.Generator()), digits.select(torch.arange(7)))
    assert seen.flops == 7 * part.flops(plan)


def test_operations_of_a_users_own_encoder_are_counted_too():
    class Own(DigitsNet):
        """Not one of the house: what it multiplies with is its own business."""

        kind = "own"

    assert forward_flops(blueprint(Own())) == forward_flops(blueprint(DigitsNet()))
