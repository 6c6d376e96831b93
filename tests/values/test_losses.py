import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from pytorch_metric_learning.losses import SupConLoss

from mooring.losses import (
    LOSSES,
    BalancedCrossEntropy,
    CosineDistance,
    CrossEntropy,
    FeatureCosine,
    FeatureToPrototype,
    MeanSquared,
    PrototypeSpread,
    SupCon,
)
from mooring.losses._contrast import supervised_contrast
from mooring.seeds import generator
from mooring.types import Progress, Step, View


def step_of(labels, prototypes, anchors=None, views=2, seed=0):
    rng = generator(seed, "step")
    features = [F.normalize(torch.randn(len(labels), prototypes.shape[1], generator=rng)) for _ in range(views)]
    seen = tuple(View(z @ prototypes.T, z.requires_grad_()) for z in features)
    return Step(torch.tensor(labels), seen, prototypes, anchors, Progress())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("temperature", [0.07, 0.5])
def test_supcon_equals_pytorch_metric_learning(seed, temperature):
    rng = generator(seed, "supcon")
    features = F.normalize(torch.randn(24, 16, generator=rng))
    labels = torch.randint(0, 4, (24,), generator=rng)
    oracle = SupConLoss(temperature=temperature)(features, labels)
    torch.testing.assert_close(supervised_contrast(features, labels, temperature), oracle)


@pytest.mark.parametrize("labels", [[3], [0, 1, 2, 3], [0, 0, 1]])
def test_supcon_of_singletons_is_a_number_with_a_finite_gradient(labels):
    step = step_of(labels, torch.randn(4, 8, generator=generator(0, "p")), views=1)
    loss = SupCon()(step)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(step.views[0].features.grad).all()
    if len(set(labels)) == len(labels):
        assert loss == 0


def test_supcon_by_hand():
    # z1 = z2 (one class), z3 orthogonal: -log(e^{1/t} / (e^{1/t} + 1)) for both
    features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    expected = math.log(1 + math.exp(-1 / 0.5))
    loss = supervised_contrast(features, torch.tensor([0, 0, 1]), 0.5)
    assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_feature_cosine_by_hand():
    # cosines to the own prototype: 1, 0 and -1, whatever the prototypes' norms
    z = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    prototypes = torch.tensor([[3.0, 0.0], [0.0, 2.0], [-5.0, 0.0]])
    step = Step(torch.tensor([0, 1, 2]), (View(z @ prototypes.T, z),), prototypes, None, Progress())
    assert FeatureCosine()(step).item() == pytest.approx((0 + 1 + 2) / 3)


def test_published_feature_to_prototype_is_the_cross_entropy_once_more():
    step = step_of([0, 1, 2], torch.randn(3, 8, generator=generator(0, "p")))
    assert FeatureToPrototype(1.0)(step).item() == pytest.approx(CrossEntropy()(step).item())


def test_balanced_cross_entropy_by_hand():
    step = replace(
        step_of([0, 1, 1], torch.randn(3, 8, generator=generator(0, "p"))), label_counts=torch.tensor([1, 4, 5])
    )
    logits = torch.cat([view.logits for view in step.views])
    shares = logits.exp() * torch.tensor([1.0, 4.0, 5.0])
    chosen = (shares / shares.sum(1, keepdim=True))[torch.arange(6), step.labels.repeat(2)]
    torch.testing.assert_close(BalancedCrossEntropy()(step), -chosen.log().mean())
    torch.testing.assert_close(BalancedCrossEntropy(0.0)(step), CrossEntropy()(step))


def test_balanced_cross_entropy_leaves_classes_alone_that_a_client_never_saw():
    logits = torch.randn(4, 3, generator=generator(0, "logits"), requires_grad=True)
    step = replace(
        step_of([0, 1, 1, 0], torch.zeros(3, 8)),
        views=(View(logits, torch.zeros(4, 8)),),
        label_counts=torch.tensor([2, 2, 0]),
    )
    BalancedCrossEntropy()(step).backward()
    assert torch.equal(logits.grad[:, 2], torch.zeros(4))
    assert logits.grad[:, :2].abs().min() > 0


def test_published_prototype_spread_is_dead_at_the_start():
    raw = torch.randn(10, 512, generator=generator(0, "p"))
    assert PrototypeSpread()(step_of([0], raw)).item() < 1e-6
    assert PrototypeSpread(1.0, "cosine")(step_of([0], raw)).item() > 0.1


def test_mean_squared_is_a_mean_over_entries_and_depends_on_d_while_cosine_does_not():
    for d in (4, 16):
        prototypes, anchors = torch.zeros(2, d), torch.zeros(2, d)
        prototypes[:, 0], anchors[:, 1] = 3.0, 1.0
        step = step_of([0], prototypes, anchors)
        assert MeanSquared()(step).item() == pytest.approx((9 + 1) / d)
        assert CosineDistance()(step).item() == pytest.approx(1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cosine_distance_lies_between_zero_and_two(sign):
    prototypes = torch.randn(3, 8, generator=generator(0, "p"))
    assert CosineDistance()(step_of([0], prototypes, sign * prototypes)).item() == pytest.approx(1 - sign, abs=1e-6)


@pytest.mark.parametrize("kind", LOSSES)
def test_every_loss_is_registered_under_its_own_name(kind):
    assert LOSSES[kind].kind == kind
