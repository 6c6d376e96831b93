"""Where lambda comes to rest, how long it takes, and how far it can run: known before training starts.

    own_loss(u, v) = 1/2 [ e^-u L_b + DATA e^-v L_a + u + PRIOR v ] + guard(u, v)
    model_loss(W)  = L_b + RATIO e^(u-v) L_a

Setting both derivatives of own_loss to zero gives the stationary raw lambda; RATIO (and a cap) give what weights feel.
"""

from collections.abc import Callable
from math import exp, inf, isinf, log, sqrt

from mooring.weighting._base import Equilibrium
from mooring.weighting._guards import FREE, Guard

SMALLEST, LARGEST = 1e-12, 1e12  # where a root is looked for


def stationary(
    local: float, align: float, ratio: float = 1.0, data: float = 1.0, prior: float = 1.0, guard: Guard = FREE
) -> Equilibrium:
    """raw lambda = e^u (PRIOR - push) / (DATA L_a + floor), e^u = L_b / (1 + push + drag); felt RATIO raw, capped.

    Without a guard that is PRIOR L_b / (DATA L_a).
    """
    seen = data * align + guard.floor
    free = prior * variance(local, 0.0, guard) / seen if seen > 0 else (inf if prior * local > 0 else 0.0)
    raw = free
    if guard.push(min(free, LARGEST)) > 0:
        raw = falling_root(
            lambda lam: variance(local, guard.push(lam), guard) * (prior - guard.push(lam)) - lam * seen,
            min(free, LARGEST),
        )
    return Equilibrium(raw, 0.0 if ratio == 0 else min(ratio * raw, guard.cap))


def variance(local: float, push: float, guard: Guard) -> float:
    """sigma_local^2 = e^u at rest: the root of e^u (1 + push + drag(u)) = L_b."""
    undragged = local / (1 + push)
    if undragged <= 0 or guard.drag(log(undragged)) == 0:
        return undragged
    return falling_root(lambda e_u: local - e_u * (1 + push + guard.drag(log(e_u))), LARGEST)


def falling_root(excess: Callable[[float], float], high: float) -> float:
    """Where a falling function crosses zero between SMALLEST and `high`, by bisection of the logarithm."""
    low_log, high_log = log(SMALLEST), log(high)
    for _ in range(200):
        middle = (low_log + high_log) / 2
        if excess(exp(middle)) > 0:
            low_log = middle
        else:
            high_log = middle
    return exp((low_log + high_log) / 2)


def relaxation_steps(lr: float, momentum: float, curvature: float = 0.5) -> float:
    """Steps in which a distance from the equilibrium shrinks by e, for momentum SGD on u or v.

    -1 / ln|z|, z the larger root of z^2 - (1 + m - eta h) z + m. The curvature h is 1/2 for u and PRIOR/2 for v; for a
    small eta this is about 2 (1 - m) / eta. Infinite when nothing pulls back (PRIOR = 0).
    """
    if curvature <= 0:
        return inf
    half = (1 + momentum - lr * curvature) / 2
    inside = half * half - momentum
    size = abs(half) + sqrt(inside) if inside >= 0 else sqrt(momentum)
    if size >= 1:
        return inf
    return -1 / log(size) if size > 0 else 0.0


def growth_bound(start: tuple[float, float], largest_local: float, lr: float, momentum: float, steps: int) -> float:
    """The largest raw lambda that can be reached in `steps`: exp(u_max - v_0 + eta T / (2 (1 - m))).

    When L_a vanishes v falls by at most eta / (2 (1 - m)) per step, and u never passes max(u_0, log max L_b).
    """
    u0, v0 = start
    exponent = max(u0, log(largest_local)) - v0 + lr * steps / (2 * (1 - momentum))
    return exp(exponent) if exponent < 700 else inf


def stability_limit(lr: float, momentum: float, classes: int, dimension: int) -> float:
    """The effective lambda above which momentum SGD on the mean-squared alignment oscillates: (1 + m) C d / eta."""
    return (1 + momentum) * classes * dimension / lr


def clamped(value: float, minimum: float, maximum: float) -> float:
    return maximum if isinf(value) else min(max(value, minimum), maximum)
