"""Fusions that make one network of all clients': values by hand, and oracles."""

import sys
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch import nn
from untrained import COMBINING, MERGING, PLAN, changed, network_of, upload_of

from mooring.errors import FusionError
from mooring.fusion import FUSIONS, Fisher, OptimalTransport, ParameterAverage, RegMean, fuse
from mooring.fusion._base import Server
from mooring.fusion._merged import averaged
from mooring.fusion._ot import assignment, channels_of, parts
from mooring.fusion._regmean import regression_mean
from mooring.models._backbones import DigitsNet, ResNet8
from mooring.models._heads import HEADS, FixedSimplex, Linear, RawPrototypes, UnitPrototypes
from mooring.models._network import PROTOTYPES
from mooring.seeds import generator
from mooring.uploads._fisher import FISHER, FisherDiagonal
from mooring.uploads._grams import GRAM, Grams, layers, prototype_inputs, rows
from mooring.uploads._moments import unpack_triangle

DEEP = replace(PLAN, backbone=ResNet8(0.5))


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kind", COMBINING + MERGING)
def test_every_rule_merges_every_head(kind, head, shards, server, images):
    blueprint = replace(PLAN, head=HEADS[head]())
    server, fusion = replace(server, blueprint=blueprint), FUSIONS[kind]()
    uploads = [upload_of(blueprint, shard, k, fusion.needs) for k, shard in enumerate(shards)]
    assert torch.isfinite(fusion(uploads, server)(images)).all()
    alone, thrice = uploads[:1], [replace(uploads[0], client=k) for k in range(3)]
    torch.testing.assert_close(fusion(thrice, server)(images), fusion(alone, server)(images), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", COMBINING + MERGING)
@pytest.mark.parametrize("backbone", [ResNet8(0.5), DigitsNet(1.0)])
def test_another_architecture_is_rejected_by_client_and_tensor(kind, backbone, shards, uploads, server):
    stranger = upload_of(replace(PLAN, backbone=backbone), shards[1], 1)
    with pytest.raises(FusionError, match=r"client 1: tensor '[\w.]+' has shape .*; all clients must train the model"):
        fuse(FUSIONS[kind](), [uploads[0], stranger, uploads[2]], server)


def test_parameter_average_is_the_mean_by_data_shares_of_everything():
    norm, other = nn.BatchNorm2d(2), nn.BatchNorm2d(2)
    norm.running_mean += torch.tensor([4.0, 8.0])
    norm.num_batches_tracked += 3
    other.weight.data += 4
    other.num_batches_tracked += 7
    samples = [torch.tensor(30.0), torch.tensor(10.0)]
    state = averaged(zip([norm.state_dict(), other.state_dict()], samples, strict=True))
    assert state["running_mean"].tolist() == [3.0, 6.0]
    assert state["weight"].tolist() == [2.0, 2.0]
    assert state["running_var"].tolist() == [1.0, 1.0]
    assert state["num_batches_tracked"].item() == 7
    assert state["num_batches_tracked"].dtype == torch.int64


def test_parameter_average_is_one_network_with_every_buffer_averaged(uploads, server, images):
    predictor = ParameterAverage()(uploads, server)
    for name, tensor in predictor.network.state_dict().items():
        theta = [upload.tensors[name] * (upload.samples / 52) for upload in uploads]
        if tensor.is_floating_point():
            torch.testing.assert_close(tensor, sum(theta))
    torch.testing.assert_close(predictor(images), predictor.network(images).logits)


@pytest.mark.parametrize("channels", [1, 3])
def test_fisher_is_the_sum_of_squared_gradients(channels, shards):
    shard = replace(shards[2], images=shards[2].images.repeat(1, channels, 1, 1))
    network = network_of(replace(PLAN, shape=(channels, 8, 8)), 2, shard.images)
    given = FisherDiagonal()(network, shard)
    with torch.no_grad():
        y = torch.multinomial(network(shard.images).logits.softmax(1), 1, generator=generator(0, "fisher"))[:, 0]
    expected = {name: torch.zeros_like(parameter) for name, parameter in network.named_parameters()}
    for image, label in zip(shard.images, y, strict=True):
        network.zero_grad()
        network(image[None]).logits.log_softmax(1)[0, label].backward()
        for name, parameter in network.named_parameters():
            expected[name] += parameter.grad.square()
    for name, fisher in expected.items():
        torch.testing.assert_close(given[FISHER + name], fisher, rtol=1e-3, atol=1e-5 * fisher.max().item())


def test_fisher_by_hand(uploads, server):
    name = "encoder.0.weight"
    known = [torch.zeros_like(uploads[0].tensors[name]) for _ in uploads]
    known[0][0], known[2][0] = 1e6, 3e6  # the first filter is known to clients 0 and 2, the others to nobody
    informed = [
        changed(upload, **{n: torch.zeros_like(t) for n, t in upload.tensors.items() if n.startswith(FISHER)})
        for upload in uploads
    ]
    informed = [changed(u, **{FISHER + name: fisher}) for u, fisher in zip(informed, known, strict=True)]
    theta = [upload.tensors[name] for upload in uploads]
    fused = Fisher(damping=1e-6)(informed, server).network.state_dict()
    torch.testing.assert_close(fused[name][0], theta[0][0] / 4 + 3 * theta[2][0] / 4, atol=1e-5, rtol=1e-5)
    average = ParameterAverage()(uploads, server).network.state_dict()
    torch.testing.assert_close(fused[name][1:], average[name][1:])
    torch.testing.assert_close(fused[PROTOTYPES], average[PROTOTYPES])
    assert torch.equal(fused["encoder.1.running_var"], average["encoder.1.running_var"])


def test_with_no_information_at_all_fisher_is_the_parameter_average(uploads, server, images):
    nothing = [{n: torch.zeros_like(t) for n, t in u.tensors.items() if n.startswith(FISHER)} for u in uploads]
    blind = [changed(upload, **tensors) for upload, tensors in zip(uploads, nothing, strict=True)]
    average = ParameterAverage()(uploads, server)
    torch.testing.assert_close(Fisher()(blind, server)(images), average(images))


def test_negative_information_is_rejected(uploads, server):
    name = FISHER + PROTOTYPES
    with pytest.raises(FusionError, match=r"client 1: tensor 'fisher.head.prototypes' holds negative information"):
        fuse(Fisher(), [uploads[0], changed(uploads[1], **{name: -uploads[1].tensors[name]})], server)


def test_regression_mean_is_the_least_squares_solution():
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(n, 6)) for n in (40, 25, 9)]
    w = [rng.normal(size=(6, 4)) for _ in x]
    oracle, *_ = np.linalg.lstsq(np.concatenate(x), np.concatenate([a @ b for a, b in zip(x, w, strict=True)]))
    grams = [torch.from_numpy(a.T @ a) for a in x]
    solution = regression_mean(grams, map(torch.from_numpy, w), torch.tensor([40, 25, 9]).double() / 74)
    np.testing.assert_allclose(solution.numpy(), oracle, atol=1e-4)


def test_the_merged_prototypes_answer_all_embeddings_as_their_clients_did(shards, uploads, server):
    x, y = [], []
    for k, (shard, upload) in enumerate(zip(shards, uploads, strict=True)):
        with torch.no_grad():
            unit = network_of(PLAN, k, shard.images)(shard.images).features.double()
        x.append(unit)
        y.append(unit @ upload.tensors[PROTOTYPES].double().T)
    merged = RegMean(shrink=1.0)(uploads, server).network.prototypes.double()

    def error(prototypes):
        return (torch.cat(x) @ prototypes.T - torch.cat(y)).square().sum().item()

    oracle = torch.linalg.lstsq(torch.cat(x), torch.cat(y), driver="gelsd").solution.T
    assert error(merged) == pytest.approx(error(oracle), rel=1e-2)
    assert error(merged) < 0.9 * error(ParameterAverage()(uploads, server).network.prototypes.double())


def test_without_off_diagonals_every_input_is_weighed_by_its_own_energy(uploads, server):
    name = "encoder.0.weight"
    energy = [unpack_triangle(upload.tensors[GRAM + name], 9).diagonal() for upload in uploads]
    weighted = sum(e * upload.tensors[name].flatten(1) for e, upload in zip(energy, uploads, strict=True))
    merged = RegMean(shrink=0.0)(uploads, server).network.state_dict()[name].flatten(1)
    torch.testing.assert_close(merged, weighted / sum(energy), atol=1e-4, rtol=1e-4)


def test_grams_are_of_what_layers_multiply_their_weights_with(shards):
    shard = shards[1]
    network = network_of(replace(PLAN, head=UnitPrototypes()), 1, shard.images)
    seen = {}
    for name, layer in layers(network).items():
        layer.register_forward_hook(lambda layer, x, y, name=name: seen.update({name: (rows(layer, x[0]), y.clone())}))
    with torch.no_grad():
        network(shard.images)
    grams = Grams()(network, shard)
    assert len(seen) == 7  # stem, two blocks of two, one projection, one embedding
    for name, layer in layers(network).items():
        x, y = seen[name]
        bias = 0 if layer.bias is None else layer.bias
        outputs = y if y.dim() == 2 else y.flatten(2).transpose(1, 2).flatten(0, 1)
        torch.testing.assert_close(x @ layer.weight.flatten(1).T + bias, outputs, atol=1e-4, rtol=1e-4)
        gram = unpack_triangle(grams[GRAM + name], x.shape[1])
        torch.testing.assert_close(gram, x.T @ x, atol=1e-4 * gram.max().item(), rtol=1e-4)
    assert not any(layer._forward_pre_hooks for layer in layers(network).values())


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (RawPrototypes(), F.normalize),
        (UnitPrototypes(16.0), lambda f: 16 * F.normalize(f)),
        (FixedSimplex(8.0), lambda f: 8 * F.normalize(f)),
        (Linear(), lambda f: f),
    ],
)
def test_a_head_tells_what_its_prototypes_are_multiplied_with(head, expected):
    module = head.build(24, 10, generator(0, "head"))
    before = deepcopy(module.state_dict())
    f = torch.randn(5, 24, generator=generator(0, "f"))
    with torch.no_grad():
        torch.testing.assert_close(prototype_inputs(module, f), expected(f))
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())


def test_a_gram_that_cannot_be_is_rejected(uploads, server):
    name = GRAM + "encoder.0.weight"
    for spoilt in (-uploads[1].tensors[name], torch.arange(45.0)):
        with pytest.raises(FusionError, match=r"client 1: tensor 'gram.encoder.0.weight' is not a sum of squares"):
            fuse(RegMean(), [uploads[0], changed(uploads[1], **{name: spoilt})], server)


def shuffled(upload, blueprint, seed):
    """The same function with all its channels in another order."""
    tensors, rng = dict(upload.tensors), generator(seed, "shuffle")
    for group in channels_of(blueprint.build(torch.Generator())):
        order = torch.randperm(len(tensors[group.rows[0]]), generator=rng)
        tensors |= {name: tensors[name][order] for name in group.rows}
        tensors |= {name: tensors[name][:, order] for name in group.columns}
    return replace(upload, tensors=tensors)


@pytest.mark.parametrize("blueprint", [PLAN, DEEP, replace(DEEP, head=UnitPrototypes()), replace(PLAN, head=Linear())])
def test_the_order_of_a_clients_channels_does_not_matter(blueprint, shards, images):
    server = Server(blueprint)
    uploads = [upload_of(blueprint, shard, k, ParameterAverage.needs) for k, shard in enumerate(shards)]
    fused = OptimalTransport()(uploads, server)(images)
    for k in range(3):
        other = [shuffled(upload, blueprint, 7) if upload.client == k else upload for upload in uploads]
        assert not torch.equal(other[k].tensors["encoder.0.weight"], uploads[k].tensors["encoder.0.weight"])
        average = ParameterAverage()
        torch.testing.assert_close(average([other[k]], server)(images), average([uploads[k]], server)(images))
        torch.testing.assert_close(OptimalTransport()(other, server)(images), fused, atol=1e-4, rtol=1e-4)
        assert (average(other, server)(images) - average(uploads, server)(images)).abs().max() > 1e-2


@pytest.mark.parametrize("head", [RawPrototypes(), UnitPrototypes(), Linear()])
def test_a_client_and_its_shuffled_copies_fuse_to_the_client(head, shards, images):
    blueprint = replace(DEEP, head=head)
    one = upload_of(blueprint, shards[0], 0, ParameterAverage.needs)
    copies = [one, *(replace(shuffled(one, blueprint, k), client=k) for k in (1, 2))]
    network = OptimalTransport()(copies, Server(blueprint)).network
    for name, tensor in network.state_dict().items():
        torch.testing.assert_close(tensor, one.tensors[name])


def test_channels_go_where_the_largest_client_has_them(uploads, server):
    small, large = uploads[2], replace(uploads[0], samples=2 * uploads[0].samples)
    alone = OptimalTransport()([large], server).network.state_dict()
    weightless = OptimalTransport()([replace(small, samples=1), replace(large, samples=10**9)], server)
    torch.testing.assert_close(weightless.network.state_dict(), alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 16, 64])
def test_transport_between_uniform_marginals_is_an_assignment(size):
    cost = torch.rand(size, size, generator=generator(size, "cost"), dtype=torch.float64)
    assert assignment(cost).tolist() == linear_sum_assignment(cost.numpy())[1].tolist()


def test_without_pot_the_remedy_is_named(uploads, server, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(FusionError, match=r"pip install 'mooring\[ot\]'"):
        OptimalTransport()(uploads, server)


def test_an_encoder_of_another_make_is_rejected():
    with pytest.raises(FusionError, match="cannot be followed"):
        parts(nn.Sequential(nn.Flatten(), nn.Linear(64, 8)))
