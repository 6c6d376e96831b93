"""The fused model for one site: hand-calculated shifts, strengths and accuracies."""

from math import log

import pytest
import torch
from models import BLUEPRINT, TOLD, model, predictor_of, write_held_out

from mooring.errors import MooringError
from mooring.federation import load_model, personal_model, save_personal_model
from mooring.fusion import Analytic, class_prior, mean_on_own_labels, personalise
from mooring.fusion._frozen_features import Affine, FrozenFeatures
from mooring.fusion._gaussian_head import Posterior
from mooring.models import RandomFilters


def test_the_strength_has_the_largest_likelihood_of_labels_left_out():
    own, total = torch.tensor([9, 1, 0]), torch.tensor([30, 40, 30])
    q = [0.3, 0.4, 0.3]

    def likelihood(m):
        """Label by label, each asked of the other nine."""
        labels = [0] * 9 + [1]
        left = [sum(other == label for j, other in enumerate(labels) if j != i) for i, label in enumerate(labels)]
        return sum(log((n + m * q[label]) / (9 + m)) for n, label in zip(left, labels, strict=True))

    found = class_prior(own, total)
    assert likelihood(found.strength) >= max(likelihood(10 ** (at / 4)) for at in range(-4, 21))
    expected = [(n + found.strength * share) / (10 + found.strength) for n, share in zip((9, 1, 0), q, strict=True)]
    assert found.frequencies.tolist() == pytest.approx(expected)


def test_a_site_like_all_others_and_a_site_of_one_image_keep_the_frequencies_of_all():
    total = torch.tensor([500, 300, 200])
    for own in ([50, 30, 20], [0, 1, 0], [0, 0, 0]):
        assert class_prior(torch.tensor(own), total).frequencies.tolist() == pytest.approx([0.5, 0.3, 0.2], abs=1e-4)


def test_a_personal_model_adds_the_log_ratio_of_the_frequencies():
    features, classes = RandomFilters(filters=4), len(BLUEPRINT.classes)
    seen = torch.ones(classes, dtype=torch.bool)
    rng = torch.Generator().manual_seed(0)
    weight = torch.randn(features.size(BLUEPRINT), classes, generator=rng, dtype=torch.float64)
    head = Posterior(Affine(weight, torch.zeros(classes, dtype=torch.float64)), torch.zeros(classes).double())
    fused = FrozenFeatures(BLUEPRINT, features, features.build(BLUEPRINT), head, seen, "probability")
    total = torch.arange(1, classes + 1) * 100
    own = torch.zeros(classes, dtype=torch.int64)
    own[:2] = torch.tensor([60, 20])
    personal = personalise(fused, own, total)
    images = torch.randint(256, (5, *BLUEPRINT.shape), generator=rng, dtype=torch.uint8)
    shift = (class_prior(own, total).frequencies / (total / total.sum())).log()
    expected = (fused(images) + shift).log_softmax(1)
    torch.testing.assert_close(personal(images).log_softmax(1), expected.float(), atol=1e-4, rtol=0)
    assert personal.confidence == "probability"


def test_scores_that_are_no_probabilities_are_not_personalised():
    with pytest.raises(MooringError, match="not probabilities") as raised:
        personalise(predictor_of(Analytic(RandomFilters(16))), torch.ones(3), torch.ones(3))
    assert "linear-head" in raised.value.remedy


def test_accuracy_on_own_labels_weighs_each_class_as_the_site_holds_it():
    """Two sites of one class each; of three test images of either class, two and one are right as scored."""
    labels = torch.tensor([0, 0, 0, 1, 1, 1])
    odds = torch.tensor([1.0, 1.0, -1.0, 1.0, 1.0, -1.0])  # of class 0
    scores = torch.stack([odds, torch.zeros(6)], 1).log_softmax(1)
    fused, personal, sites = mean_on_own_labels(scores, labels, [(50, 0), (0, 50), (0, 0)])
    assert (fused, sites) == (pytest.approx((2 / 3 + 1 / 3) / 2), 2)
    assert personal == 1
    assert mean_on_own_labels(scores, labels, [(50, 50)]) is None


def test_a_model_file_is_personalised_by_counting_the_files_of_a_site(tmp_path):
    root = write_held_out(tmp_path / "held", sites=("north",), each=8) / "north"
    for file in sorted((root / "seven").iterdir())[1:]:
        file.unlink()
    made = personal_model(model(TOLD), root)
    save_personal_model(tmp_path / "north.mooring", made)
    loaded = load_model(tmp_path / "north.mooring")
    images = torch.randint(256, (4, *loaded.blueprint.shape), dtype=torch.uint8)
    own = torch.tensor([8, 1, 8])
    assert torch.equal(
        loaded.predictor(images), personalise(model().predictor, own, torch.tensor([40, 30, 30]))(images)
    )
    assert (made.images, made.classes, loaded.provenance.method) == (17, 3, "mooring, personalised")
    with pytest.raises(MooringError, match="how many images of each class"):
        personal_model(model(), root)
