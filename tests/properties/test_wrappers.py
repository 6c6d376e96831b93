"""Promises of weightings around weightings: whatever is inside learns as if it were alone."""

import pytest
import torch

from mooring.schedules import at
from mooring.seeds import generator
from mooring.types import ClientFacts, Losses, Progress
from mooring.weighting import WEIGHTINGS, Annealed, Fixed, Probed, Uncertainty
from mooring.weighting._guards import GUARDS, Bound, InverseVariance

FACTS = ClientFacts(0, (5, 0, 3), steps=50)
STEPS = 12
BASES = {
    **{kind: weighting() for kind, weighting in WEIGHTINGS.items()},
    "joint": Uncertainty(gradients="joint"),
    "rescaled": Uncertainty(data="cosine", gradients="rescaled"),
    "joint with schedules": Uncertainty(data="linear", prior="cosine", gradients="joint"),
    "joint and guarded": Uncertainty(gradients="joint", guard=InverseVariance(0.05)),
}
WRAPPERS = {  # and what it multiplies the felt lambda by
    "annealed": (lambda base: Annealed(base, "linear"), lambda p: at("linear", p)),
    "held": (lambda base: Annealed(base, "constant"), lambda _: 1.0),
    "probed": (Probed, lambda _: 1.0),
    "probed inside": (lambda base: Annealed(Probed(base), "cosine"), lambda p: at("cosine", p)),
    "probed outside": (lambda base: Probed(Annealed(base, "cosine")), lambda p: at("cosine", p)),
    "twice": (lambda base: Annealed(Annealed(base, "linear"), "cosine"), lambda p: at("linear", p) * at("cosine", p)),
}
every_pair = pytest.mark.parametrize(("base", "wrapper"), [(base, wrapper) for base in BASES for wrapper in WRAPPERS])


GUARDED = {
    **{kind: WEIGHTINGS[kind]() for kind in ("closed-form", "gradient-normalised", "hypergradient")},
    **{kind: Uncertainty(ratio="cosine", data="linear", guard=guard()) for kind, guard in GUARDS.items()},
    "joint and guarded": Uncertainty(data="linear", gradients="joint", guard=InverseVariance(0.05)),
}


def losses_of(step):
    """Losses that fall, each with a gradient of its own at prototypes and embedding."""
    prototypes = torch.linspace(-1, 2, 6).view(3, 2).requires_grad_()
    embedding = torch.linspace(1, -2, 8).view(4, 2).requires_grad_()
    local = (prototypes.square().sum() + embedding.square().sum()) / (1 + step)
    align = (prototypes - 1).square().mean() + 0.1 * embedding.mean().exp() / (1 + step)
    return Losses(local, align, {}, embedding, prototypes)


def trace(weighting):
    """What a weighting answers to the same losses, its own parameters learning on the way; and its state after it."""
    balancer = weighting.start(FACTS, generator(0, "w"))
    own = list(balancer.parameters())
    seen = []
    for step in range(STEPS):
        losses = losses_of(step)
        progress = Progress(step, STEPS, epoch=step // 2, local_epochs=20)
        balanced = balancer(losses, progress)
        loss = balanced.loss(losses.local, losses.align)
        gradients = torch.autograd.grad(loss, [losses.prototypes, *own], allow_unused=True)
        with torch.no_grad():
            for parameter, gradient in zip(own, gradients[1:], strict=True):
                parameter.sub_(balancer.rate(0.3) * gradient)
        seen.append((progress, balanced, gradients[0]))
    state = {name.rpartition("base.")[2]: value for name, value in balancer.state_dict().items()}
    return seen, state


@every_pair
def test_what_is_inside_learns_as_if_it_were_alone(base, wrapper):
    _, alone = trace(BASES[base])
    _, wrapped = trace(WRAPPERS[wrapper][0](BASES[base]))
    assert wrapped.keys() == alone.keys()
    assert all(torch.equal(wrapped[name], alone[name]) for name in alone)


@every_pair
def test_the_felt_lambda_is_the_schedule_times_that_of_the_base(base, wrapper):
    wrap, factor = WRAPPERS[wrapper]
    for (progress, alone, _), (_, wrapped, _) in zip(trace(BASES[base])[0], trace(wrap(BASES[base]))[0], strict=True):
        s = factor(progress)
        assert torch.equal(wrapped.lambda_raw, alone.lambda_raw)
        torch.testing.assert_close(wrapped.lambda_felt, s * alone.lambda_felt)
        torch.testing.assert_close(wrapped.w_align.detach(), s * alone.w_align.detach())
        assert torch.equal(wrapped.w_local, alone.w_local)
        assert wrapped.schedule_factor == pytest.approx(s * alone.schedule_factor)


@every_pair
def test_what_is_inside_is_measured_as_if_it_were_alone(base, wrapper):
    for (_, alone, _), (_, wrapped, _) in zip(
        trace(BASES[base])[0], trace(WRAPPERS[wrapper][0](BASES[base]))[0], strict=True
    ):
        assert alone.measured.keys() <= wrapped.measured.keys()
        assert all(torch.equal(wrapped.measured[name], value) for name, value in alone.measured.items())


@pytest.mark.parametrize("base", BASES)
def test_a_schedule_that_never_moves_changes_nothing(base):
    for (_, alone, pull), (_, wrapped, felt) in zip(
        trace(BASES[base])[0], trace(Annealed(BASES[base], "constant"))[0], strict=True
    ):
        assert torch.equal(felt, pull)
        assert torch.equal(wrapped.lambda_felt, alone.lambda_felt)


def test_annealing_leaves_the_base_where_it_would_rest():
    progress = Progress(25, 50)
    assert Annealed(Fixed(4.0), "linear").stationary(9.0, 1.0, progress, FACTS).felt == pytest.approx(2.0)
    joint = BASES["joint"].stationary(9.0, 1.0, progress, FACTS)
    faded = Annealed(BASES["joint"], "linear").stationary(9.0, 1.0, progress, FACTS)
    assert (faded.raw, faded.felt) == pytest.approx((joint.raw, joint.felt / 2))


@pytest.mark.parametrize(("base", "wrapper"), [(base, wrapper) for base in GUARDED for wrapper in WRAPPERS])
def test_a_guard_inside_binds_at_the_schedule_times_its_own_cap(base, wrapper):
    wrap, factor = WRAPPERS[wrapper]
    alone, wrapped = (rule.outlook(FACTS, 0.05, 0.9, 9.0) for rule in (GUARDED[base], wrap(GUARDED[base])))
    for step in (0, 20, 49):
        progress = Progress(step, 50)
        assert wrapped.cap(9.0, progress) == pytest.approx(factor(progress) * alone.cap(9.0, progress))


def test_what_is_felt_where_a_bound_binds_is_the_cap():
    rule = Annealed(Uncertainty(ratio="cosine", guard=Bound(0.3)), "linear")
    cap = rule.outlook(FACTS, 0.05, 0.9, 9.0).cap
    shares = [balanced.lambda_felt.item() / cap(9.0, progress) for progress, balanced, _ in trace(rule)[0]]
    assert shares[0] == pytest.approx(1.0)  # a raw lambda of 1 is held at 0.3 while the schedule of the base allows it
    assert max(shares) <= 1 + 1e-6
