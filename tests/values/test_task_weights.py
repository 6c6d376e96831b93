"""The weights of note 1: curriculum, confidence, gradient normalisation."""

from dataclasses import replace

import pytest
import torch
from frozen import FACTS

from mooring.methods import METHODS
from mooring.seeds import generator
from mooring.types import Losses, Progress
from mooring.weighting import ByConfidence, Fixed, GradientNormalised, Probed, Ramp, Uncertainty


def losses_of(local, align, embedding=None):
    embedding = torch.ones(2, 2) if embedding is None else embedding
    return Losses(torch.as_tensor(local), torch.as_tensor(align), {}, embedding, torch.ones(3, 2))


def test_the_curriculum_is_linear_over_the_whole_training():
    values = [Ramp(0.1, 1.0).value(Progress(step, 100)) for step in (0, 50, 100)]
    assert values == pytest.approx([0.1, 0.55, 1.0])


def test_as_the_note_prints_it_the_curriculum_starts_again_in_every_round():
    rule = METHODS["curriculum-by-round"].client.align.weight
    within = [rule.value(Progress(0, 1, epoch=e, local_epochs=5, round=r)) for r in (0, 3) for e in range(5)]
    assert within == pytest.approx([0.1, 0.28, 0.46, 0.64, 0.82] * 2)


def test_confidence_grows_as_the_loss_falls_from_its_start():
    balancer = ByConfidence(0.1, 1.0, memory=0.0).start(FACTS, generator(0, "w"))
    seen = [balancer(losses_of(loss, 1.0), Progress()).lambda_felt.item() for loss in (8.0, 4.0, 0.0, 16.0)]
    assert seen == pytest.approx([0.1, 0.55, 1.0, 0.1])


def test_plan_2_watches_the_classification_loss_or_the_whole_task():
    """Note 1 lowers the weight while `cls_loss` is high; what else is in L_b does not matter to it."""
    seen = {}
    for watches in ("cross-entropy", "base"):
        balancer = ByConfidence(0.1, 1.0, memory=0.0, watches=watches).start(FACTS, generator(0, "w"))
        for base, classification in ((8.0, 2.0), (8.0, 1.0)):  # learned by half, while the rest of L_b stays
            losses = replace(losses_of(base, 1.0), terms={"cross-entropy": torch.tensor(classification)})
            seen[watches] = balancer(losses, Progress()).lambda_felt.item()
    assert seen == pytest.approx({"cross-entropy": 0.55, "base": 0.1})
    assert METHODS["adaptive-classification"].client.align.weight.watches == "cross-entropy"
    assert METHODS["adaptive-confidence"].client.align.weight.watches == "base"


def test_gradient_normalisation_makes_both_tasks_pull_equally():
    z = torch.ones(4, 3, requires_grad=True)
    local, align = (3 * z).sum(), (0.5 * z).sum()
    balanced = GradientNormalised().start(FACTS, generator(0, "w"))(losses_of(local, align, z), Progress())
    assert balanced.lambda_felt.item() == pytest.approx(6.0)
    assert balanced.measured["gradient_cosine"].item() == pytest.approx(1.0)
    balanced = GradientNormalised(maximum=2.0).start(FACTS, generator(0, "w"))(losses_of(local, align, z), Progress())
    assert balanced.lambda_felt.item() == pytest.approx(2.0)


def test_a_probe_sees_conflict_and_changes_nothing():
    z = torch.ones(4, 3, requires_grad=True)
    losses = losses_of((3 * z).sum(), (-2 * z).sum(), z)
    probed = Probed(Fixed(0.7)).start(FACTS, generator(0, "w"))(losses, Progress())
    plain = Fixed(0.7).start(FACTS, generator(0, "w"))(losses, Progress())
    assert torch.equal(probed.w_local, plain.w_local)
    assert torch.equal(probed.w_align, plain.w_align)
    assert probed.measured["gradient_cosine"].item() == pytest.approx(-1.0)
    assert probed.measured["gradient_ratio"].item() == pytest.approx(1.5)


def test_uncertainty_of_the_lambda_family_is_used_again():
    assert METHODS["adaptive-uncertainty"].client.align.weight == Uncertainty()
