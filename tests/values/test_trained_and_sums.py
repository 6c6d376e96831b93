"""Trained networks and sums in one upload: two log-probabilities with one factor each."""

import pytest
import torch
from untrained import PLAN, upload_of

from mooring.fusion import (
    Familiarity,
    LinearHeadFusion,
    OutputEnsemble,
    TrainedAndSums,
    decode_predictor,
    encode_predictor,
)
from mooring.fusion._base import Server
from mooring.fusion._trained_and_sums import PULL, USUAL_WEIGHT
from mooring.methods import METHODS, track_of
from mooring.models import EncoderFeatures
from mooring.models._feature_maps import RandomFilters

RULE = TrainedAndSums(map=RandomFilters(8))


@pytest.fixture(scope="module")
def both(shard_of):
    return [
        upload_of(PLAN, shard_of(classes, 12), k, RULE.needs) for k, classes in enumerate(([0, 1, 2, 3], [3, 4, 5]))
    ]


def parts_of(uploads, images, server):
    sums, trained = LinearHeadFusion(RULE.map)(uploads, server), Familiarity()(uploads, server)
    return sums(images).log_softmax(1), trained(images).log_softmax(1)


def test_without_validation_images_the_weight_is_the_one_that_is_set(both, images):
    server = Server(PLAN)
    sums, trained = parts_of(both, images, server)
    predictor = RULE(both, server)
    torch.testing.assert_close(predictor(images), sums + USUAL_WEIGHT * trained)
    torch.testing.assert_close(TrainedAndSums(RULE.map, weight=0)(both, server)(images), sums)
    assert predictor.confidence == "score"
    assert (predictor.clients, predictor.passes) == ((0, 1), 3)


def test_with_validation_images_the_likelihood_has_its_peak_at_the_factors(both, digits):
    validation = digits.select((digits.labels < 6).nonzero()[:150, 0])
    server = Server(PLAN, validation=validation)
    predictor = RULE(both, server)
    sums, trained = (part.double() for part in parts_of(both, validation.images, server))

    def objective(u, v):
        scores = (u * sums + v * trained).log_softmax(1)
        likelihood = scores.gather(1, validation.labels[:, None]).mean()
        return float(likelihood - PULL / 150 * ((u - 1) ** 2 + (v - USUAL_WEIGHT) ** 2))

    u, v = predictor.factors.tolist()
    assert min(u, v) >= 0
    for du, dv in ((0.02, 0), (-0.02, 0), (0, 0.02), (0, -0.02)):
        assert u + du < 0 or v + dv < 0 or objective(u + du, v + dv) < objective(u, v)
    assert predictor.confidence == "probability"


def test_networks_that_know_nothing_get_no_weight(both, digits):
    """Untrained networks beside sums that are right: the sums are left as they are, to a hundredth."""
    validation = digits.select((digits.labels < 6).nonzero()[:, 0])
    whole = [upload_of(PLAN, validation, 0, RULE.needs)]
    server = Server(PLAN, validation=validation)
    rule = TrainedAndSums(RULE.map, trained=OutputEnsemble())
    sums = LinearHeadFusion(RULE.map)(whole, server)(validation.images).argmax(1)
    assert (rule(whole, server)(validation.images).argmax(1) == sums).double().mean() > 0.99


def test_all_separable_validation_images_do_not_drive_the_factors_away(both, digits):
    few = digits.select((digits.labels < 4).nonzero()[:6, 0])
    assert RULE(both, Server(PLAN, validation=few)).factors.abs().max() < 10


def test_the_model_file_holds_both_parts(both, images):
    predictor = RULE(both, Server(PLAN))
    again = decode_predictor(encode_predictor(predictor)).predictor
    assert torch.equal(again(images), predictor(images))


def test_the_track_names_what_was_given_more():
    """A pretrained encoder beside trained networks is not training from scratch."""
    assert METHODS["trained-and-sums"].track == "trained from scratch"
    assert track_of(TrainedAndSums(EncoderFeatures())) == "frozen encoder"
