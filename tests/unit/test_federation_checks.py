"""A site that sends nonsense is set aside, and the rest gives the model it would have given without it."""

from dataclasses import replace

import pytest
import torch
from studies.poison import BLUEPRINT, PART, POISON, accuracy, divided, shuffled, uploaded, used

from mooring.data._images import ImageSet
from mooring.federation._checks import absurd_prototypes, agreement_of, largest_feature, suspects
from mooring.models._feature_maps import Pixels, RandomFilters
from mooring.models._network import PROTOTYPES
from mooring.types import Upload
from mooring.uploads._moments import Moments


@pytest.fixture(scope="module", params=[1.0, 0.1], ids=["even", "skewed"])
def honest(request, digits):
    """Images of four sites, what they upload, the largest of them, and held-out images with the accuracy without it."""
    shards, held = divided(digits, request.param, sites=4)
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
    shards, _ = divided(digits, [0.03, 0.1, 0.3, 1.0, 100.0][seed], seed, sites=4)
    uploads = [uploaded(k, shard, part) for k, shard in enumerate(shards) if len(shard)]
    assert suspects(part, uploads, BLUEPRINT) == ()


@pytest.mark.parametrize("second", ["shared", "per-class", "diagonal"])
def test_agreement_is_one_for_the_same_classes_and_none_for_shuffled_labels(second, digits):
    part = Moments(RandomFilters(8), second)
    shards, _ = divided(digits, 1.0, sites=4)
    uploads = [uploaded(k, shard, part) for k, shard in enumerate(shards)]
    own = uploaded(0, shuffled(shards[0]), part)
    mixed = agreement_of(part, part.total([own]), part.total([own, *uploads[1:]]))
    same = agreement_of(part, part.total(uploads[:1]), part.total(uploads))
    assert same.slope == pytest.approx(1, abs=4 * same.error)
    assert mixed.slope == pytest.approx(0, abs=4 * mixed.error)
    assert mixed.is_bad
    assert not same.is_bad


def test_a_site_with_one_class_under_anothers_name_is_set_aside(digits, shard_of):
    shards, _ = divided(digits, 100.0, sites=4)
    sevens = shard_of([7], 100)
    called_ones = ImageSet(sevens.images, torch.ones_like(sevens.labels), sevens.classes)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards[:3])]
    [rejection] = suspects(PART, [*uploads, uploaded(3, called_ones)], BLUEPRINT)
    assert rejection.site == "west"
    assert "its classes do not lie where the others' do" in rejection.problems[0]
    assert suspects(PART, [*uploads, uploaded(3, shard_of([7], 100))][1:], BLUEPRINT) == ()


def test_of_two_sites_that_disagree_nobody_is_believed_more(digits):
    shards, _ = divided(digits, 100.0, sites=4)
    assert suspects(PART, [uploaded(0, shards[0]), uploaded(1, shuffled(shards[1]))], BLUEPRINT) == ()


def test_a_copy_with_other_numbers_of_images_is_one(digits):
    shards, _ = divided(digits, 1.0, sites=4)
    twice = ImageSet(shards[0].images.repeat(2, 1, 1, 1), shards[0].labels.repeat(2), shards[0].classes)
    [rejection] = suspects(PART, [uploaded(k, shard) for k, shard in enumerate([*shards[:3], twice])], BLUEPRINT)
    assert rejection.problems == ("it has the images of north, or nearly all of them",)


@pytest.mark.parametrize("feature_map", [Pixels(), RandomFilters(16)], ids=lambda feature_map: feature_map.kind)
def test_no_real_image_has_a_feature_beyond_the_bound(feature_map, digits):
    real = feature_map.build(BLUEPRINT)(digits.images).abs().amax()
    assert real < largest_feature(feature_map, BLUEPRINT) < 100 * real


def test_a_prototype_of_absurd_length_is_told():
    uploads = [Upload(k, 0, 10, {PROTOTYPES: torch.ones(10, 4) * 20**k}, str(k)) for k in (0, 1, 1, 5)]
    uploads = [replace(upload, client=k) for k, upload in enumerate(uploads)]
    assert [rejection.client for rejection in absurd_prototypes(uploads)] == [3]
