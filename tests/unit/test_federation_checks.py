"""A site that sends nonsense is set aside, and the rest gives the model it would have given without it."""

from dataclasses import replace

import pytest
import torch

from mooring.data.images import ImageSet
from mooring.evaluate import measure
from mooring.federation.checks import absurd_prototypes, agreement_of, largest_feature, suspects
from mooring.fusion import LinearHead, admit, fuse
from mooring.fusion.base import Server
from mooring.models.backbones import DigitsNet
from mooring.models.feature_maps import Pixels, RandomFilters
from mooring.models.heads import RawPrototypes
from mooring.models.network import PROTOTYPES, Blueprint
from mooring.types import Upload
from mooring.uploads.moments import Moments

HEAD = LinearHead(RandomFilters(16))
[PART] = HEAD.needs
BLUEPRINT = Blueprint(DigitsNet(), RawPrototypes(), (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))


def uploaded(client, shard, part=PART):
    tensors = part(BLUEPRINT.build(torch.Generator()), shard)
    return Upload(client, 0, len(shard), tensors, ["north", "south", "east", "west"][client], "job")


def divided(digits, skew, seed=0):
    """Four sites; the share of a class that a site gets is Dirichlet, and the last 360 images are kept apart."""
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(digits), generator=rng)
    train, held = digits.select(order[:-360]), digits.select(order[-360:])
    shares = torch._sample_dirichlet(torch.full((10, 4), skew), rng)
    site = torch.multinomial(shares[train.labels], 1, generator=rng)[:, 0]
    return [train.select((site == k).nonzero()[:, 0]) for k in range(4)], held


def shuffled(shard):
    order = torch.randperm(len(shard), generator=torch.Generator().manual_seed(5))
    return ImageSet(shard.images, shard.labels[order], shard.classes)


def changed(upload, change):
    return replace(upload, tensors={name: change(name, tensor) for name, tensor in upload.tensors.items()})


def times(factor, only=("sums", "second")):
    return lambda name, tensor: tensor * factor if name.endswith(only) else tensor


def more_images(upload):
    bigger = changed(upload, times(10**6, ("counts", "sums", "second")))
    return replace(bigger, samples=upload.samples * 10**6)


POISON = {
    "shuffled labels": lambda shards, k: uploaded(k, shuffled(shards[k])),
    "times a million": lambda shards, k: changed(uploaded(k, shards[k]), times(1e6)),
    "squared scale": lambda shards, k: changed(changed(uploaded(k, shards[k]), times(1e3)), times(1e3, ("second",))),
    "a million times the images": lambda shards, k: more_images(uploaded(k, shards[k])),
    "not a number": lambda shards, k: changed(uploaded(k, shards[k]), times(float("nan"))),
    "flipped signs": lambda shards, k: changed(uploaded(k, shards[k]), times(-1.0)),
    "flipped sums": lambda shards, k: changed(uploaded(k, shards[k]), times(-1.0, ("sums",))),
    "copy of another": lambda shards, k: uploaded(k, shards[(k + 1) % 4]),
}


def used(uploads):
    """Admitted, and not suspect."""
    admitted = admit(uploads, HEAD.needs, BLUEPRINT, "job", strict=False).admitted
    aside = {refusal.client for refusal in suspects(PART, admitted, BLUEPRINT)}
    return [upload for upload in admitted if upload.client not in aside]


def accuracy(uploads, held):
    return measure(fuse(HEAD, uploads, Server(BLUEPRINT))(held.images), held.labels).accuracy


@pytest.fixture(scope="module", params=[1.0, 0.1], ids=["even", "skewed"])
def honest(request, digits):
    """Images of four sites, what they upload, the largest of them, and held-out images with the accuracy without it."""
    shards, held = divided(digits, request.param)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    largest = max(range(4), key=lambda k: len(shards[k]))
    return shards, uploads, largest, held, accuracy([*uploads[:largest], *uploads[largest + 1 :]], held)


@pytest.mark.parametrize("poison", POISON)
def test_a_poisoned_site_is_set_aside_and_costs_less_than_a_point(poison, honest):
    shards, uploads, largest, held, without_it = honest
    kept = used([*uploads[:largest], POISON[poison](shards, largest), *uploads[largest + 1 :]])
    assert len(kept) == 3
    assert accuracy(kept, held) == pytest.approx(without_it, abs=0.01)


@pytest.mark.parametrize("second", ["shared", "per-class", "diagonal"])
@pytest.mark.parametrize("seed", range(5))
def test_honest_sites_are_kept_however_skewed_they_are(second, seed, digits):
    part = Moments(RandomFilters(8), second)
    shards, _ = divided(digits, [0.03, 0.1, 0.3, 1.0, 100.0][seed], seed)
    uploads = [uploaded(k, shard, part) for k, shard in enumerate(shards) if len(shard)]
    assert suspects(part, uploads, BLUEPRINT) == ()


@pytest.mark.parametrize("second", ["shared", "per-class", "diagonal"])
def test_agreement_is_one_for_the_same_classes_and_none_for_shuffled_labels(second, digits):
    part = Moments(RandomFilters(8), second)
    shards, _ = divided(digits, 1.0)
    uploads = [uploaded(k, shard, part) for k, shard in enumerate(shards)]
    own = uploaded(0, shuffled(shards[0]), part)
    mixed = agreement_of(part, part.total([own]), part.total([own, *uploads[1:]]))
    same = agreement_of(part, part.total(uploads[:1]), part.total(uploads))
    assert same.slope == pytest.approx(1, abs=4 * same.error)
    assert mixed.slope == pytest.approx(0, abs=4 * mixed.error)
    assert mixed.is_bad
    assert not same.is_bad


def test_a_site_with_one_class_under_anothers_name_is_set_aside(digits, shard_of):
    shards, _ = divided(digits, 100.0)
    sevens = shard_of([7], 100)
    called_ones = ImageSet(sevens.images, torch.ones_like(sevens.labels), sevens.classes)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards[:3])]
    [refusal] = suspects(PART, [*uploads, uploaded(3, called_ones)], BLUEPRINT)
    assert refusal.site == "west"
    assert "its classes do not lie where the others' do" in refusal.problems[0]
    assert suspects(PART, [*uploads, uploaded(3, shard_of([7], 100))][1:], BLUEPRINT) == ()


def test_of_two_sites_that_disagree_nobody_is_believed_more(digits):
    shards, _ = divided(digits, 100.0)
    assert suspects(PART, [uploaded(0, shards[0]), uploaded(1, shuffled(shards[1]))], BLUEPRINT) == ()


def test_a_copy_with_other_numbers_of_images_is_one(digits):
    shards, _ = divided(digits, 1.0)
    twice = ImageSet(shards[0].images.repeat(2, 1, 1, 1), shards[0].labels.repeat(2), shards[0].classes)
    [refusal] = suspects(PART, [uploaded(k, shard) for k, shard in enumerate([*shards[:3], twice])], BLUEPRINT)
    assert refusal.problems == ("it has the images of north, or nearly all of them",)


@pytest.mark.parametrize("feature_map", [Pixels(), RandomFilters(16)], ids=lambda feature_map: feature_map.kind)
def test_no_real_image_has_a_feature_beyond_the_bound(feature_map, digits):
    real = feature_map.build(BLUEPRINT)(digits.images).abs().amax()
    assert real < largest_feature(feature_map, BLUEPRINT) < 100 * real


def test_a_prototype_of_absurd_length_is_told():
    uploads = [Upload(k, 0, 10, {PROTOTYPES: torch.ones(10, 4) * 20**k}, str(k)) for k in (0, 1, 1, 5)]
    uploads = [replace(upload, client=k) for k, upload in enumerate(uploads)]
    assert [refusal.client for refusal in absurd_prototypes(uploads)] == [3]
