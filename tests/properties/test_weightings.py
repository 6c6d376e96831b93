"""Promises that every method's weighting keeps."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.methods import METHODS
from mooring.seeds import generator
from mooring.types import ClientFacts, Losses, Progress
from mooring.weighting import WEIGHTINGS

ALIGNED = {name: method.client.align.weight for name, method in METHODS.items() if method.client.align}
RESCALED = {f"v11-{name}-{shape}" for name in ("rescaled", "as-run") for shape in ("linear", "cosine")}
JOINT = {"v10", "v10-unclipped", "v10-remedied", *RESCALED}  # one loss for all
FACTS = ClientFacts(0, (5, 0, 3), steps=50)


def losses_at(weights, scale=1.0):
    prototypes = weights
    local, align = (prototypes**2).sum() * scale, ((prototypes - 1) ** 2).mean()
    return Losses(local, align, {"cross-entropy": local}, torch.ones(4, 2, requires_grad=True), prototypes)


@pytest.mark.parametrize("name", ALIGNED)
def test_gradients_are_decoupled_by_construction(name):
    weights = torch.full((3, 2), 2.0, requires_grad=True)
    balancer = ALIGNED[name].start(FACTS, generator(0, "w"))
    for step in range(2):  # the second step also has a memory
        balanced = balancer(losses_at(weights), Progress(step, 50))
    assert [w.requires_grad for w in (balanced.w_local, balanced.w_align)] == 2 * [name in JOINT]
    if balanced.own_loss is not None:
        (reached,) = torch.autograd.grad(balanced.own_loss, weights, allow_unused=True)
        assert reached is None


@pytest.mark.parametrize("name", ALIGNED)
def test_the_felt_lambda_is_what_the_weights_feel(name):
    """The pull of L_a on the weights, relative to that of L_b, is the logged lambda."""
    weights = torch.tensor([[2.0, 3.0], [1.0, -1.0]], requires_grad=True)
    balancer = ALIGNED[name].start(FACTS, generator(0, "w"))
    local, align = weights[0].square().sum(), (weights[1] - 1).square().sum()  # separate rows: separate gradients
    losses = Losses(local, align, {"cross-entropy": local}, torch.ones(4, 2, requires_grad=True), weights)
    balanced = balancer(losses, Progress(10, 50, round=2, rounds=10))
    (felt,) = torch.autograd.grad(balanced.loss(local, align), weights, retain_graph=True)
    (base,) = torch.autograd.grad(local, weights, retain_graph=True)
    (pull,) = torch.autograd.grad(align, weights)
    scale = felt[0, 0] / base[0, 0]  # what a joint loss does to the learning rate
    torch.testing.assert_close(felt[1] / scale, balanced.lambda_felt * pull[1])


@pytest.mark.parametrize("name", ALIGNED)
def test_the_schedule_factor_is_what_lies_between_raw_and_felt(name):
    weights = torch.full((3, 2), 2.0, requires_grad=True)
    balancer = ALIGNED[name].start(FACTS, generator(0, "w"))
    balanced = balancer(losses_at(weights, 0.1), Progress(10, 50, round=2, rounds=10))
    torch.testing.assert_close(balanced.schedule_factor * balanced.lambda_raw, balanced.lambda_felt)


@pytest.mark.parametrize("name", ALIGNED)
@settings(max_examples=40, deadline=None)
@given(local=st.floats(1e-3, 50), align=st.floats(1e-9, 5), step=st.integers(0, 49))
def test_lambda_is_a_finite_number_that_is_not_negative(name, local, align, step):
    weights = torch.ones(3, 2, requires_grad=True)
    slope = weights.sum() - 6
    balancer = ALIGNED[name].start(FACTS, generator(0, "w"))
    losses = Losses(
        slope + local, slope + align, {"cross-entropy": slope + local}, torch.ones(4, 2, requires_grad=True), weights
    )
    balanced = balancer(losses, Progress(step, 50, round=step // 5, rounds=10))
    assert torch.isfinite(balanced.lambda_felt)
    assert balanced.lambda_felt >= 0
    rest = ALIGNED[name].stationary(local, align, Progress(step, 50), FACTS)
    assert rest is None or (rest.raw >= 0 and rest.felt >= 0)


@pytest.mark.parametrize("name", ALIGNED)
def test_the_state_of_a_balancer_can_be_saved_and_restored(name):
    weights = torch.full((3, 2), 2.0, requires_grad=True)
    first, second = (ALIGNED[name].start(FACTS, generator(s, "w")) for s in (0, 1))
    for step in range(7):
        first(losses_at(weights, 1 + step / 3), Progress(step, 50, epoch=step // 3, local_epochs=20))
    second.load_state_dict(first.state_dict())
    progress = Progress(7, 50, epoch=2, local_epochs=20)
    one, two = first(losses_at(weights), progress), second(losses_at(weights), progress)
    assert torch.equal(one.lambda_felt, two.lambda_felt)


@pytest.mark.parametrize(("name", "low", "high"), [("closed-form", 0.0, 50.0), ("hypergradient", 0.01, 50.0)])
@settings(max_examples=30, deadline=None)
@given(scales=st.lists(st.floats(-30, 30), min_size=5, max_size=40))
def test_bounded_weightings_stay_within_their_bounds(name, low, high, scales):
    weights = torch.full((3, 2), 2.0, requires_grad=True)
    balancer = ALIGNED[name].start(FACTS, generator(0, "w"))
    for step, scale in enumerate(scales):
        losses = losses_at(weights, scale)
        balanced = balancer(losses, Progress(step, len(scales)))
        assert low * 0.999 <= balanced.lambda_felt.item() <= high * 1.001


def test_the_hypergradient_descends_on_the_next_base_loss():
    """Against finite differences: lambda moves so that L_b of the next batch, after the step, would be lower."""
    weighting, lr = ALIGNED["hypergradient"], 0.01
    for target in (3.0, -3.0):  # alignment (towards 1) helps when the base loss wants 3, and hinders when it wants -3
        weights = torch.zeros(3, 2, requires_grad=True)

        def base(w, target=target):
            return ((w - target) ** 2).sum()

        def losses(w):
            return Losses(base(w), ((w - 1) ** 2).sum(), {}, torch.ones(4, 2, requires_grad=True), w)

        def next_base(lam, losses=losses, base=base, weights=weights):
            seen = losses(weights)
            (step,) = torch.autograd.grad(seen.local + lam * seen.align, weights)
            return base(weights - lr * step).item()

        slope = (next_base(1.01) - next_base(0.99)) / 0.02
        balancer = weighting.start(FACTS, generator(0, "w"))
        seen = losses(weights)
        first = balancer(seen, Progress(0, 50))
        (step,) = torch.autograd.grad(first.loss(seen.local, seen.align), weights)
        moved = (weights - lr * step).detach().requires_grad_()
        second = balancer(losses(moved), Progress(1, 50))
        assert (second.lambda_felt - first.lambda_felt).item() * slope < 0


def test_a_floor_bounds_uw_so_and_nothing_else_does():
    weights = torch.ones(1, 1, requires_grad=True)
    losses = Losses(weights.sum() * 5, weights.sum() * 1e-4, {}, torch.ones(2, 1, requires_grad=True), weights)
    free = WEIGHTINGS["uw-so"]().start(FACTS, generator(0, "w"))(losses, Progress())
    floored = WEIGHTINGS["uw-so"](floor=0.5).start(FACTS, generator(0, "w"))(losses, Progress())
    assert free.lambda_felt > 1e30
    assert floored.lambda_felt.item() == pytest.approx(torch.tensor(1 / 0.5 - 1 / 5).exp().item())


@pytest.mark.parametrize("kind", WEIGHTINGS)
def test_every_weighting_is_registered_under_its_own_name(kind):
    assert WEIGHTINGS[kind].kind == kind
