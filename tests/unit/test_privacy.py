"""Noise that hides any single image, of the size it claims, and a head that works under it."""

from dataclasses import replace
from math import exp, floor, log2, sqrt

import pytest
import torch
from scipy.integrate import quad
from scipy.stats import kstest, norm

from mooring.errors import ConfigError, FusionError
from mooring.evaluate import measure
from mooring.fusion import LinearHeadFusion, fuse
from mooring.fusion._base import Server
from mooring.fusion._saved import decode_predictor, encode_predictor
from mooring.models._backbones import DigitsNet
from mooring.models._feature_maps import Pixels, RandomFilters
from mooring.models._feature_maps.synthetic import dead_leaf_discs, feature_reduction, reduce_features
from mooring.models._heads import RawPrototypes
from mooring.models._network import Blueprint
from mooring.schema import canonical_json, to_tree
from mooring.types import Upload
from mooring.uploads import UploadFacts, wire_name
from mooring.uploads._moments import unpack_triangle
from mooring.uploads._noised import NoisedMoments, with_noise_key
from mooring.uploads._privacy import Privacy, gaussian_delta, gaussian_sigma

BLUEPRINT = Blueprint(DigitsNet(), RawPrototypes(), (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))
NETWORK = BLUEPRINT.build(torch.Generator())
SIZE = 24
PART = NoisedMoments(Pixels(), Privacy(2.0, 1e-5, SIZE), b"secret")


def test_the_accountant_is_that_of_the_definition():
    """delta = int (p - e^epsilon q)+ for p = N(1, s^2) and q = N(0, s^2), by numerical integration."""
    for s, epsilon in ((0.7, 1.0), (1.4, 3.0), (4.0, 0.5)):
        wanted, _ = quad(
            lambda x, s=s, e=epsilon: max(0.0, norm.pdf(x, 1, s) - exp(e) * norm.pdf(x, 0, s)),
            -20 * s,
            20 * s,
            limit=500,
        )
        assert gaussian_delta(s, epsilon) == pytest.approx(wanted, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (3.0, 1e-5), (10.0, 1e-3), (100.0, 1e-9)])
def test_sigma_is_the_smallest_that_grants_epsilon_and_delta(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_delta(sigma, epsilon) <= delta
    assert gaussian_delta(sigma * (1 - 1e-6), epsilon) > delta * (1 - 1e-3)
    if epsilon < 1:  # the classical mechanism, which grants it too, needs more
        assert sigma < sqrt(2 * torch.tensor(1.25 / delta).log().item()) / epsilon


def test_noise_on_all_that_is_told_amounts_to_one_change_of_length_one():
    privacy = Privacy(3.0, 1e-5)
    assert sum(1 / deviation**2 for deviation in privacy.noise) == pytest.approx(1 / privacy.sigma**2)


def told(shard, key=b"secret"):
    return dict(
        zip(("counts", "sums", "second", "draws"), replace(PART, key=key)(NETWORK, shard).values(), strict=True)
    )


def test_one_image_changes_what_is_told_by_no_more_than_the_accountant_assumes(digits):
    """Without noise: counts by 1, sums by a vector of length 1, second moments by a matrix of norm 1."""
    centre, projection = feature_reduction(Pixels(), BLUEPRINT, SIZE)
    u = reduce_features(Pixels().build(BLUEPRINT)(digits.images[:200]), centre, projection)
    outer = u[:, :, None] * u[:, None, :]
    triangle = torch.where(torch.triu(torch.ones(SIZE, SIZE)) * (1 - torch.eye(SIZE)) > 0, sqrt(2.0), 0.0)
    packed = (outer * (triangle + torch.eye(SIZE))).flatten(1)  # an entry for two, noise of half the variance
    torch.testing.assert_close(u.norm(dim=1), torch.ones(200, dtype=torch.float64))
    torch.testing.assert_close(packed.norm(dim=1), torch.ones(200, dtype=torch.float64))
    black = torch.zeros(1, 1, 8, 8, dtype=torch.uint8)
    assert reduce_features(Pixels().build(BLUEPRINT)(black), centre, projection).norm() <= 1 + 1e-9


def test_noise_has_the_variance_it_claims():
    """Of a site without images nothing but noise is told."""
    none = torch.zeros(0, SIZE, dtype=torch.float64), torch.zeros(0, 10, dtype=torch.float64)
    noises = [replace(PART, key=bytes([number])).of_features(*none) for number in range(40)]
    draws = [dict(zip(("counts", "sums", "second"), noise.values(), strict=False)) for noise in noises]
    counts, sums, second = PART.privacy.noise
    matrices = torch.stack([unpack_triangle(draw["second"], SIZE) for draw in draws])
    rows, columns = torch.triu_indices(SIZE, SIZE, 1)
    samples = {
        "counts": (torch.stack([draw["counts"] for draw in draws]) / counts),
        "sums": (torch.stack([draw["sums"] for draw in draws]) / sums),
        "diagonal": (matrices.diagonal(dim1=1, dim2=2) / second),
        "beside it": (matrices[:, rows, columns] / second * sqrt(2)),
    }
    for name, sample in samples.items():
        assert kstest(sample.flatten().numpy(), "norm").pvalue > 1e-3, name
        assert sample.var().item() == pytest.approx(1, abs=4 * sqrt(2 / sample.numel())), name
    directions = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=torch.Generator().manual_seed(0)).double())[0]
    along = torch.einsum("id,kij,jd->kd", directions, matrices, directions) / second  # the same in every direction
    assert along.var().item() == pytest.approx(1, abs=4 * sqrt(2 / along.numel()))


def test_the_same_images_give_the_same_bytes_and_one_image_less_gives_fresh_noise(digits):
    shard = digits.select(torch.arange(100))
    first, again, less = told(shard), told(shard), told(digits.select(torch.arange(99)))
    assert all(torch.equal(first[name], again[name]) for name in first)
    apart = (first["sums"] - less["sums"]) / PART.privacy.noise[1]
    assert apart.var().item() == pytest.approx(2, abs=0.8)  # were it the same noise, the image would be the difference
    assert not torch.equal(told(shard, b"other")["sums"], first["sums"])
    assert not torch.equal(told(shard, None)["sums"], told(shard, None)["sums"])


def test_the_secret_is_in_no_name_no_tree_and_no_text():
    assert wire_name(PART) == wire_name(replace(PART, key=None))
    assert "secret" not in canonical_json(to_tree(PART)) + repr(PART)
    assert replace(PART, key=None) == PART
    [keyed] = with_noise_key(frozenset({replace(PART, key=None)}), b"new")
    assert keyed.key == b"new"


def test_the_last_bits_of_what_is_told_are_those_of_a_grid(digits):
    tensors = told(digits.select(torch.arange(50)))
    for name, deviation in zip(("counts", "sums", "second"), PART.privacy.noise, strict=True):
        steps = tensors[name] / 2.0 ** floor(log2(deviation / 1024))
        assert torch.equal(steps, steps.round())


def fused(digits, epsilon, sites=3, **settings):
    head = LinearHeadFusion(RandomFilters(16), privacy=Privacy(epsilon, size=32), **settings)
    [part] = with_noise_key(head.needs, b"secret")
    shards = [digits.select(torch.arange(k, 1400, sites)) for k in range(sites)]
    uploads = [Upload(k, 0, len(shard), part(NETWORK, shard)) for k, shard in enumerate(shards)]
    return fuse(head, uploads, Server(BLUEPRINT)), digits.select(torch.arange(1400, len(digits)))


def test_a_head_under_noise_works_and_works_better_with_less(digits):
    accuracies = []
    for epsilon in (50.0, 3.0, 0.3):
        predictor, held = fused(digits, epsilon)
        accuracies.append(measure(predictor(held.images), held.labels).accuracy)
        assert predictor.confidence == "score"
    assert min(accuracies[:2]) > 0.8
    assert accuracies[2] < 0.5


def test_a_head_under_noise_is_saved_and_scores_as_before(digits):
    predictor, held = fused(digits, 3.0)
    again = decode_predictor(encode_predictor(predictor)).predictor
    assert torch.equal(again(held.images), predictor(held.images))


def test_noise_that_drowns_every_class_is_told(shard_of):
    head = LinearHeadFusion(RandomFilters(4), privacy=Privacy(0.01, size=4))
    [part] = with_noise_key(head.needs, b"secret")
    uploads = [Upload(0, 0, 9, part(NETWORK, shard_of([0, 1, 2], 3)))]
    with pytest.raises(FusionError, match=r"with epsilon=0.01 no class can be seen through the noise"):
        fuse(head, uploads, Server(BLUEPRINT))


def test_sums_of_several_sites_know_how_many_noises_are_in_them(digits):
    shards = [digits.select(torch.arange(k, 900, 3)) for k in range(3)]
    uploads = [Upload(k, 0, len(shard), PART(NETWORK, shard)) for k, shard in enumerate(shards)]
    together = PART.add(PART.add(uploads[0].tensors, uploads[1].tensors), uploads[2].tensors)
    one, three = PART.total([Upload(0, 0, 900, together)]), PART.total(uploads)
    torch.testing.assert_close(one.second, three.second)
    assert torch.equal(one.counts, three.counts)
    assert torch.linalg.eigvalsh(three.second).min() > 0


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 50.0])
def test_the_bounds_of_a_check_reject_honest_sums_no_more_often_than_they_say(epsilon, digits, monkeypatch):
    """With the rate set to 5 %, at most 5 % of honest uploads are reported; sums times 1,000 always are."""
    monkeypatch.setattr("mooring.uploads._noised.FALSE_ALARM", 0.05)
    part = NoisedMoments(Pixels(), Privacy(epsilon, 1e-5, SIZE))
    u = reduce_features(digits.images.flatten(1)[:300].double(), *(0.0, torch.eye(64, SIZE, dtype=torch.float64)))
    y = torch.nn.functional.one_hot(digits.labels[:300], 10).double()
    found = [bool(part.check(part.of_features(u, y), UploadFacts(300))) for _ in range(200)]
    assert sum(found) <= 0.05 * len(found) + 3 * sqrt(0.05 * 0.95 * len(found))
    names = list(part.expected(BLUEPRINT))
    tensors = part.of_features(u, y)
    assert part.check({**tensors, names[1]: 1000 * tensors[names[1]]}, UploadFacts(300))
    assert part.check({**tensors, names[2]: 1000 * tensors[names[2]]}, UploadFacts(300))


def test_epsilon_and_delta_are_within_reason():
    for wrong in ({"epsilon": 0.0}, {"epsilon": 1.0, "delta": 0.0}, {"epsilon": 1.0, "delta": 0.5}):
        with pytest.raises(ConfigError):
            Privacy(**wrong)


def test_dead_leaves_have_edges_and_flat_parts():
    images = dead_leaf_discs((3, 32, 32), 16).float()
    steps = (images[..., 1:] - images[..., :-1]).abs()
    assert (steps == 0).float().mean() > 0.5
    assert (steps > 50).float().mean() > 0.02
