from math import exp, inf, isinf, log

import pytest
from frozen import FACTS, settle

from mooring.types import Progress
from mooring.weighting import Annealed, ClosedForm, Fixed, SoftOptimalUncertainty, Uncertainty
from mooring.weighting._equilibrium import (
    growth_bound,
    relaxation_steps,
    stability_limit,
    stationary,
)
from mooring.weighting._guards import Bound, InverseVariance, LinearHinge, LocalLog, SquaredHinge, Together

RULES = {
    "plain": Uncertainty(),
    "joint": Uncertainty(gradients="joint"),
    "ratio": Uncertainty(ratio="linear"),
    "data": Uncertainty(data="linear"),
    "ratio and data": Uncertainty(ratio="cosine", data="cosine"),
    "prior": Uncertainty(prior="linear"),
    "inverse variance": Uncertainty(ratio="linear", data="linear", guard=InverseVariance(0.05)),
    "linear hinge, smooth": Uncertainty(prior="linear", guard=LinearHinge(0.01, 2.0)),
    "squared hinge": Uncertainty(prior="linear", guard=SquaredHinge(1e-3, 5.0)),
    "bound": Uncertainty(prior="linear", guard=Bound(3.0)),
    "local log": Uncertainty(guard=LocalLog(0.05)),
    "together": Uncertainty(
        data="cosine", guard=Together((InverseVariance(0.05), LocalLog(0.1), LinearHinge(0.01, 2.0)))
    ),
    "rescaled": Uncertainty(data="linear", gradients="rescaled"),
    "closed form": ClosedForm(),
    "uw-so": SoftOptimalUncertainty(),
    "fixed": Annealed(Fixed(5.0), "cosine"),
}


@pytest.mark.parametrize("align", [0.9, 0.02])
@pytest.mark.parametrize("p", [0.0, 0.8])
@pytest.mark.parametrize("name", RULES)
def test_the_scalar_dynamics_land_on_the_formula(name, p, align):
    progress = Progress(int(1000 * p), 1000)
    balanced, _ = settle(RULES[name], 9.0, align, lambda _: progress, steps=300, lr=0.03)
    rest = RULES[name].stationary(9.0, align, progress, FACTS)
    assert balanced.lambda_raw.item() == pytest.approx(rest.raw, rel=0.01)
    assert balanced.lambda_felt.item() == pytest.approx(rest.felt, rel=0.01)


@pytest.mark.parametrize(
    ("lr", "momentum", "steps"), [(0.05, 0.9, 19), (0.005, 0.9, 25), (0.0005, 0.9, 390), (0.01, 0.0, 200)]
)
def test_relaxation_times_are_those_of_the_derivation(lr, momentum, steps):
    assert relaxation_steps(lr, momentum) == pytest.approx(steps, rel=0.03)


def test_relaxation_is_what_the_dynamics_do():
    """Once the faster mode has died, the distance shrinks by e every relaxation_steps."""
    _, trace = settle(Uncertainty(), 2.0, 2.0 * exp(-0.1), lr=0.0005, steps=3000)
    distance = [abs(log(raw) - 0.1) for raw in trace]
    tau = relaxation_steps(0.0005, 0.9)
    assert distance[1200] / distance[1200 + round(tau)] == pytest.approx(exp(1), rel=0.1)


def test_nothing_pulls_back_without_a_prior():
    assert isinf(relaxation_steps(0.05, 0.9, curvature=0.0))


@pytest.mark.parametrize(("lr", "steps"), [(0.05, 100), (0.005, 800)])
def test_no_run_beats_the_growth_bound(lr, steps):
    """The worst case: the alignment loss vanishes and never comes back."""
    _, trace = settle(Uncertainty(), 10.5, 0.0, lr=lr, steps=steps)
    bound = growth_bound((0.0, 0.0), 10.5, lr, 0.9, steps)
    assert trace[-1] <= bound
    assert log(trace[-1]) > 0.5 * log(bound)  # and it is no idle bound
    assert growth_bound((0.0, 0.0), 10.5, 0.05, 0.9, 10**6) == inf


def test_guards_cap_where_science_says():
    vanished = 1e-12
    gamma, lmax, s = 1e-3, 50.0, 0.4
    assert stationary(9.0, vanished, guard=InverseVariance(gamma)).raw == pytest.approx(9.0 / (2 * gamma))
    linear, squared = LinearHinge(gamma, lmax), SquaredHinge(gamma, lmax)
    capped = stationary(9.0, vanished, prior=s, guard=linear).raw
    assert capped == pytest.approx(max(lmax, s / (2 * gamma)), rel=1e-3)
    assert stationary(9.0, vanished, prior=s, guard=LinearHinge(1.0, lmax)).raw == pytest.approx(lmax, rel=1e-3)
    capped = stationary(9.0, vanished, prior=s, guard=squared).raw
    assert capped == pytest.approx(0.5 * (lmax + (lmax**2 + s / gamma) ** 0.5), rel=1e-3)


def test_a_vanished_loss_is_an_infinite_lambda_and_not_an_error():
    assert stationary(9.0, 0.0).raw == inf
    assert stationary(0.0, 0.0).raw == 0.0
    assert stationary(9.0, 0.0, ratio=0.0).felt == 0.0


def critical_lambda(prototype_gradient, local, classes, dimension, ratio=1.0):
    """The effective lambda above which the equilibrium runs away: C d |G|^2 / (4 L_b RATIO).

    Prototypes settle where G + 2 lambda (P - A) / (C d) = 0, so L_a = C d |G|^2 / (4 lambda^2), and the stationary
    lambda grows like lambda^2: this fixed point is unstable.
    """
    pull = local * ratio
    return classes * dimension * prototype_gradient**2 / (4 * pull) if pull > 0 else inf


def test_limits_by_hand():
    assert stability_limit(0.05, 0.9, 10, 32) == pytest.approx(1.9 * 320 / 0.05)
    assert critical_lambda(0.5, 9.0, 10, 32) == pytest.approx(320 * 0.25 / 36)
    assert critical_lambda(0.5, 9.0, 10, 32, ratio=0.0) == inf


def test_the_critical_lambda_is_where_the_map_of_equilibria_turns():
    """lambda -> L_b / L_a(lambda) with L_a = C d |G|^2 / (4 lambda^2): below it falls back, above it runs away."""
    critical = critical_lambda(0.5, 9.0, 10, 32)

    def step(lam):
        return stationary(9.0, 10 * 32 * 0.25 / (4 * lam**2)).felt

    assert step(critical) == pytest.approx(critical)
    assert step(0.9 * critical) < 0.9 * critical
    assert step(1.1 * critical) > 1.1 * critical
