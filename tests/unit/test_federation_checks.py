"""Every upload gets one outcome: rules reject, comparisons only ask, and no site can cause the exclusion of another."""

from dataclasses import replace

import pytest
import torch
from studies.poison import (
    BLUEPRINT,
    HEAD,
    PART,
    POISON,
    SHIFTS,
    accuracy,
    changed,
    divided,
    found_among,
    judged,
    many,
    shuffled,
    swapped_labels,
    thin,
    uploaded,
    with_ridge,
)

from mooring.data._images import ImageSet
from mooring.federation._class_positions import compare, site_moments, within_of, yardstick_of
from mooring.federation._comparisons import absurd_prototypes
from mooring.federation._effect import Effects
from mooring.federation._judge import Outcome, judge
from mooring.federation._rules import SiteLimits, largest_feature
from mooring.models._feature_maps import Pixels, RandomFilters
from mooring.models._network import PROTOTYPES
from mooring.types import Upload
from mooring.uploads._moments import Moments

RULES = {"sums and second moments times 1e6", "features times 1e3", "not a number", "signs of all flipped"}


@pytest.fixture(scope="module", params=[1.0, 0.1], ids=["even", "skewed"])
def honest(request, digits):
    """Images of four sites, what they upload, the largest of them, and held-out images with the accuracy without it."""
    shards, held = divided(digits, request.param, sites=4)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    largest = max(range(4), key=lambda k: len(shards[k]))
    return shards, uploads, largest, held, accuracy([*uploads[:largest], *uploads[largest + 1 :]], held)


def relabelled(shard, labels) -> ImageSet:
    return ImageSet(shard.images, labels, shard.classes)


def shifted(shard, change) -> ImageSet:
    pixels = change(shard.images.float()).clamp(0, 255).round().to(torch.uint8)
    return ImageSet(pixels, shard.labels, shard.classes)


def outcomes(uploads, part=PART, **limits) -> dict[str, Outcome]:
    return {row.site: row.outcome for row in judge(uploads, frozenset({part}), BLUEPRINT, SiteLimits(**limits))}


def seen(uploads, site) -> str:
    [text] = [row.text for row in judge(uploads, frozenset({PART}), BLUEPRINT) if row.site == site]
    return text


@pytest.mark.parametrize("poison", POISON)
def test_a_poisoned_site_is_found_and_without_it_the_model_is_as_good_as_that_of_the_others(poison, honest):
    shards, uploads, largest, held, without_it = honest
    sent = [*uploads[:largest], POISON[poison](shards, largest), *uploads[largest + 1 :]]
    rows = judged(sent)
    original = {(largest + 1) % 4} if "copy" in poison else set()
    assert found_among(rows) == {largest} | original
    assert (rows[largest].outcome is Outcome.REJECTED) >= (poison in RULES)
    assert all(row.outcome is not Outcome.REJECTED for row in rows if row.client != largest)
    kept = [upload for upload in sent if upload.client != largest]
    assert accuracy(kept, held) == pytest.approx(without_it, abs=0.01)


@pytest.mark.parametrize("second", ["shared", "per-class", "diagonal"])
@pytest.mark.parametrize("seed", range(5))
def test_honest_sites_are_used_however_skewed_they_are(second, seed, digits):
    part = Moments(RandomFilters(8), second)
    shards, _ = divided(digits, [0.03, 0.1, 0.3, 1.0, 100.0][seed], seed, sites=4)
    uploads = [uploaded(k, shard, part) for k, shard in enumerate(shards) if len(shard)]
    assert set(outcomes(uploads, part).values()) == {Outcome.USED}


@pytest.mark.parametrize("liar", range(5))
@pytest.mark.parametrize("skew", [1.0, 0.05])
def test_a_site_that_adds_to_its_own_second_moments_expels_nobody(liar, skew, digits):
    """It made every honest site look like a copy of another: they were set aside, and its own upload was used alone."""
    shards, _ = divided(digits, skew, seed=2)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    uploads[liar] = with_ridge(uploads[liar])
    found = outcomes(uploads)
    assert found.pop(uploads[liar].site) is not Outcome.USED
    assert set(found.values()) == {Outcome.USED}


def test_two_sites_that_add_to_their_second_moments_expel_nobody(digits):
    shards, _ = divided(digits, 1.0, seed=2)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    uploads[0], uploads[3] = with_ridge(uploads[0]), with_ridge(uploads[3])
    found = outcomes(uploads)
    assert [site for site, outcome in found.items() if outcome is Outcome.USED] == ["south", "east", "centre"]


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("skew", [1.0, 0.05])
def test_images_of_another_kind_are_never_rejected_and_nobody_else_is_asked_about(shift, skew, digits):
    for seed in (1, 2, 3):
        shards, _ = divided(digits, skew, seed)
        moved = [shifted(shard, SHIFTS[shift]) if k == 4 else shard for k, shard in enumerate(shards)]
        found = outcomes([uploaded(k, shard) for k, shard in enumerate(moved)])
        assert found.pop("centre") is not Outcome.REJECTED
        assert set(found.values()) == {Outcome.USED}


def test_two_of_four_sites_of_another_kind_reject_nobody(digits):
    """Two scanners, two sites each: which of them is right is not a question that sums can answer."""
    shards, _ = divided(digits, 100.0, sites=4)
    moved = [shifted(shard, SHIFTS["inverted"]) if k > 1 else shard for k, shard in enumerate(shards)]
    assert Outcome.REJECTED not in outcomes([uploaded(k, shard) for k, shard in enumerate(moved)]).values()


@pytest.mark.parametrize("second", ["shared", "per-class", "diagonal"])
def test_agreement_is_one_for_the_same_classes_and_none_for_shuffled_labels(second, digits):
    part = Moments(RandomFilters(8), second)
    shards, _ = divided(digits, 1.0, sites=4)
    witness = uploaded(1, shards[1], part)
    within, _ = within_of(part, part.total([witness]))
    unit = torch.where(within.diagonal() > 0, within.diagonal(), 1).rsqrt() * (within.diagonal() > 0)
    yardstick = yardstick_of(part, witness, unit)
    slopes = [
        compare(site_moments(part, uploaded(0, shard, part)), site_moments(part, witness), yardstick).slope
        for shard in (shards[0], shuffled(shards[0]))
    ]
    assert slopes[0].value == pytest.approx(1, abs=4 * slopes[0].error)
    assert slopes[1].value == pytest.approx(0, abs=4 * slopes[1].error)


def test_a_site_with_one_class_under_anothers_name_is_asked_about(digits, shard_of):
    shards, _ = divided(digits, 100.0, sites=4)
    sevens = shard_of([7], 100)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards[:3])]
    wrong = [*uploads, uploaded(3, relabelled(sevens, torch.ones_like(sevens.labels)))]
    assert [site for site, outcome in outcomes(wrong).items() if outcome is not Outcome.USED] == ["west"]
    assert "its classes lie elsewhere than those of north, south, east (agreement" in seen(wrong, "west")
    assert set(outcomes([*uploads, uploaded(3, shard_of([7], 100))][1:]).values()) == {Outcome.USED}


def test_of_many_sites_a_poisoned_one_is_found(digits):
    """With more than 20 sites not every pair is compared, and a simulation compared none."""
    shards, _ = divided(digits, 100.0, sites=24)
    shards[7] = shuffled(shards[7])
    uploads = [replace(uploaded(0, shard), client=k, site=f"site {k}") for k, shard in enumerate(shards)]
    assert found_among(judged(uploads)) == {7}


def test_two_classes_exchanged_are_named(digits):
    shards, _ = divided(digits, 100.0)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    uploads[1] = uploaded(1, relabelled(shards[1], swapped_labels(shards[1].labels)))
    assert found_among(judged(uploads)) == {1}
    assert "its classes '0' and '1', '2' and '3' look exchanged" in seen(uploads, "south")


def test_of_two_sites_that_disagree_neither_is_believed_more(digits):
    shards, _ = divided(digits, 100.0, sites=4)
    assert found_among(judged([uploaded(0, shards[0]), uploaded(1, shuffled(shards[1]))])) == set()


def test_one_site_is_not_enough_evidence_against_another(digits):
    """Of three sites one lies: it disagrees with both others, and each of them disagrees with it alone."""
    shards, _ = divided(digits, 100.0, sites=3)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    uploads[2] = many(uploaded(2, shuffled(shards[2])), 999)
    assert found_among(judged(uploads)) == {2}


def test_a_copy_with_other_numbers_of_images_is_reported_for_both_sites(digits):
    shards, _ = divided(digits, 1.0, sites=4)
    twice = ImageSet(shards[0].images.repeat(2, 1, 1, 1), shards[0].labels.repeat(2), shards[0].classes)
    uploads = [uploaded(k, shard) for k, shard in enumerate([*shards[:3], twice])]
    assert found_among(judged(uploads)) == {0, 3}
    assert seen(uploads, "west") == "it looks like a copy: it has the images of north, or nearly all of them"
    assert "the images of west" in seen(uploads, "north")


def test_a_site_that_claims_one_image_for_each_class_makes_nobody_look_like_its_copy(digits):
    """Claimed means of single images explained any distance: all five sites were asked about as copies."""
    shards, _ = divided(digits, 1.0)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    assert found_among(judged([thin(uploads[0]), *uploads[1:]])) <= {0}


def test_more_images_than_the_job_allows_are_rejected_and_without_a_limit_they_are_asked_about(digits):
    shards, _ = divided(digits, 100.0)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    uploads[1] = many(uploads[1], 50)
    assert outcomes(uploads)["south"] is Outcome.NEEDS_REVIEW
    assert "% of all, and the other sites have about" in seen(uploads, "south")
    limited = outcomes(uploads, images=1000)
    assert limited.pop("south") is Outcome.REJECTED
    assert set(limited.values()) == {Outcome.USED}
    assert outcomes(uploads, images=10**6)["south"] is Outcome.USED  # the job allows it


def test_two_sites_that_claim_nearly_everything_are_both_asked_about(digits):
    shards, _ = divided(digits, 100.0)
    uploads = [many(uploaded(k, shard), 999 if k < 2 else 1) for k, shard in enumerate(shards)]
    assert found_among(judged(uploads)) == {0, 1}


def test_more_directions_than_images_are_rejected(digits):
    """With fewer images than features no comparison is needed: n images span n directions."""
    shards, _ = divided(digits, 100.0)
    few = shards[0].select(torch.arange(60))
    assert outcomes([uploaded(0, few)])["north"] is Outcome.USED
    assert outcomes([with_ridge(uploaded(0, few), 0.01)])["north"] is Outcome.REJECTED


@pytest.mark.parametrize("feature_map", [Pixels(), RandomFilters(16)], ids=lambda feature_map: feature_map.kind)
def test_no_real_image_has_a_feature_beyond_the_bound(feature_map, digits):
    real = feature_map.build(BLUEPRINT)(digits.images).abs().amax()
    assert real < largest_feature(feature_map, BLUEPRINT) < 100 * real


def test_a_prototype_of_absurd_length_is_found():
    uploads = [Upload(k, 0, 10, {PROTOTYPES: torch.ones(10, 4) * 20**k}, str(k)) for k in (0, 1, 1, 5)]
    uploads = [replace(upload, client=k) for k, upload in enumerate(uploads)]
    assert [finding.client for finding in absurd_prototypes(uploads)] == [3]
    assert list(absurd_prototypes(uploads[2:])) == []  # one other site is not enough


def test_the_estimated_effect_of_a_site_has_the_sign_of_the_measured_one(digits):
    shards, held = divided(digits, 1.0, seed=3)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    poisoned = [*uploads[:4], uploaded(4, relabelled(shards[4], (shards[4].labels + 1) % 10))]
    harm = Effects(HEAD, poisoned).of(4)
    assert accuracy(poisoned[:4], held) > accuracy(poisoned, held) + 0.05
    assert harm.left_out > harm.used + 0.05
    harmless = Effects(HEAD, uploads).of(4)
    assert abs(harmless.left_out - harmless.used) < 0.05
    assert "at 4 other sites" in harmless.text


def test_order_does_not_change_an_outcome(digits):
    shards, _ = divided(digits, 1.0, seed=2)
    uploads = [uploaded(k, shard) for k, shard in enumerate(shards)]
    uploads[0] = changed(uploads[0], {"sums": -1.0})
    assert outcomes(uploads) == outcomes(uploads[::-1])
