"""Numbers that the lab notes print, and claims that they make."""

from math import log2

import pytest
from frozen import settle

from mooring.methods import METHODS
from mooring.types import ClientFacts, Progress
from mooring.weighting import ByEntropy
from mooring.weighting._fixed import evenness

NOTE2_TABLE1 = [
    (1.9079, 0.5743, 5.7859),
    (1.7997, 0.5418, 5.4634),
    (0.6091, 0.1834, 1.9152),
    (1.1689, 0.3519, 3.5837),
    (1.7245, 0.5191, 5.2395),
]


def histogram_of(bits, samples=10_000_000):
    """Ten label counts with this entropy: m equal classes and one whose share is found by bisection."""
    m = int(2**bits)  # log2 m <= bits < log2(m + 1)
    low, high = 0.0, 1 / (m + 1)

    def entropy(q):
        rest = (1 - q) / m
        return -(m * rest * log2(rest) + (q * log2(q) if q else 0))

    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy(middle) < bits else (low, middle)
    counts = [round(samples * (1 - low) / m)] * m + [round(samples * low)]
    return tuple(counts + [0] * (10 - len(counts)))


@pytest.mark.parametrize(("entropy", "normalised", "lam"), NOTE2_TABLE1)
def test_v9_reproduces_table_1_of_note_2(entropy, normalised, lam):
    counts = histogram_of(entropy)
    facts = ClientFacts(0, counts)
    assert evenness(counts) * log2(10) == pytest.approx(entropy, abs=1e-4)
    assert evenness(counts) == pytest.approx(normalised, abs=1e-4)
    weight = METHODS["v9"].client.align.weight
    assert weight.base == ByEntropy(0.1, 10.0)
    assert weight.stationary(9.0, 1.0, Progress(), facts).raw == pytest.approx(lam, abs=1e-3)
    assert METHODS["v9-constant"].client.align.weight.value(facts) == pytest.approx(lam, abs=1e-3)


@pytest.mark.parametrize(("local", "align"), [(7.27, 0.811), (10.5, 0.05), (0.3, 2.0)])
def test_v10_converges_to_the_ratio_of_the_losses(local, align):
    balanced, _ = settle(METHODS["v10"].client.align.weight, local, align)
    assert balanced.lambda_raw.item() == pytest.approx(local / align, rel=0.01)
    assert balanced.lambda_felt.item() == pytest.approx(local / align, rel=0.01)


@pytest.mark.parametrize("method", ["v11-linear", "v11-cosine"])
def test_annealing_cancels_in_v11(method):
    """Note 3: with frozen losses and 200 steps per round, a * lambda is what it is without annealing."""
    rounds, steps, local, align = 10, 200, 9.0, 0.75
    weight, plain = METHODS[method].client.align.weight, METHODS["v10"].client.align.weight

    def progress(step):
        return Progress(step, rounds * steps, round=step // steps, rounds=rounds)

    from mooring.schedules import at

    _, annealed = settle(weight, local, align, progress, rounds * steps)
    _, free = settle(plain, local, align, progress, rounds * steps)
    for r in range(1, rounds):
        last = (r + 1) * steps - 1
        assert at(weight.ratio, progress(last)) * annealed[last] == pytest.approx(free[last], rel=0.01)
    assert annealed[-1] > 9 * annealed[steps - 1]  # while the raw lambda itself explodes


@pytest.mark.slow
def test_note_4_predicts_the_wrong_direction():
    """The design says lambda goes to 0 as s goes to 0; it goes to infinity, and `decoupled` does what was wanted."""
    almost_over = Progress(990, 1000)
    design = METHODS["v12-design"].client.align.weight
    start, _ = settle(design, 9.0, 0.9, lambda _: Progress(0, 1000))
    end, _ = settle(design, 9.0, 0.9, lambda _: almost_over)
    assert start.lambda_felt.item() == pytest.approx(10, rel=0.01)
    assert end.lambda_felt.item() == pytest.approx(1000, rel=0.01)
    for method in ("decoupled", "log-prior", "closed-form"):
        balanced, _ = settle(METHODS[method].client.align.weight, 9.0, 0.9, lambda _: almost_over, 2_500)
        assert balanced.lambda_felt.item() == pytest.approx(0.1, rel=0.02), method


def test_remedies_of_note_2_do_not_move_the_equilibrium():
    balanced, trace = settle(METHODS["v10-remedied"].client.align.weight, 9.0, 0.9, steps=3_500)
    assert trace[0] == pytest.approx(0.3679, rel=1e-3)  # u = -1, v = 0
    assert balanced.lambda_raw.item() == pytest.approx(10, rel=0.01)
