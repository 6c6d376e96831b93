"""Heads from the same sums: what they are expected to reach on new images follows from the sums alone."""

import pytest
import torch
import torch.nn.functional as F

from mooring.fusion import SOLVERS, gaussian_scores, heads_of
from mooring.fusion._solvers import Ridge, density, standardise_moments
from mooring.fusion._unit_columns import UnitColumns
from mooring.fusion._within_class import HEADS, Auto, WithinClassRidge, expected_accuracy
from mooring.uploads._moments import SummedMoments


def totals_of(x, y):
    one_hot = F.one_hot(y, 3).double()
    return SummedMoments(one_hot.sum(0), one_hot.T @ x, x.T @ x)


def drawn(n, seed, features=12, apart=1.0):
    """Points of 3 classes whose features vary by very different amounts within a class."""
    rng = torch.Generator().manual_seed(seed)
    centres = torch.randn(3, features, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    y = torch.multinomial(torch.tensor([0.5, 0.3, 0.2]), n, replacement=True, generator=rng)
    noise = torch.randn(n, features, generator=rng, dtype=torch.float64)
    return apart * centres[y] + 2 * noise * torch.logspace(-0.5, 0.5, features, dtype=torch.float64), y


@pytest.mark.parametrize("towards", ["equal", "own"])
def test_the_moments_of_scores_are_those_of_images_left_out(towards):
    """Every image is left out in turn, its head computed from the others: 80 heads, as the formula has it from one."""
    x, y = drawn(80, 1)
    moments = standardise_moments(totals_of(x, y))
    fit = WithinClassRidge(0.05, towards)(moments)
    z = (x - moments.centre) * moments.inverse
    d = moments.within.diagonal() if towards == "own" else torch.ones(12, dtype=torch.float64)
    change = torch.linalg.lstsq(discriminant(z, y, d), fit.weight).solution  # scores of the head -> regressed scores
    scores = torch.stack([z[i] @ discriminant(*without(i, z, y), d) @ change + fit.bias for i in range(80)])
    means = torch.stack([scores[y == c].mean(0) for c in range(3)])
    within = sum((scores[y == c] - means[c]).T @ (scores[y == c] - means[c]) for c in range(3)) / 80
    fitted = z @ fit.weight + fit.bias
    naive = torch.stack([fitted[y == c].mean(0) for c in range(3)])
    assert (fit.means - means).abs().max() < 0.25 * (naive - means).abs().max()
    torch.testing.assert_close(fit.within, within, atol=0.01, rtol=0)


def discriminant(z, y, d):
    """(S + 0.05 D)^-1 m', from the images themselves."""
    means = torch.stack([z[y == c].mean(0) for c in range(3)])
    within = (z - means[y]).T @ (z - means[y]) / len(z)
    return torch.linalg.solve(within + 0.05 * torch.diag(d), means.T)


def without(i, z, y):
    others = torch.arange(len(z)) != i
    return z[others], y[others]


def test_ridge_and_within_class_ridge_of_one_strength_give_the_same_directions():
    """(T + r I)^-1 m' and (S + r I)^-1 m' span the same space: T adds only the scatter of the means."""
    moments = standardise_moments(totals_of(*drawn(300, 2)))
    one, other = Ridge(0.1)(moments).weight, WithinClassRidge(0.1, "equal")(moments).weight
    assert torch.linalg.matrix_rank(torch.cat([one, other], 1), rtol=1e-9) == torch.linalg.matrix_rank(one, rtol=1e-9)


def test_the_expected_accuracy_ranks_strengths_as_new_images_do():
    x, y = drawn(150, 3, features=60, apart=0.3)
    new, labels = drawn(20_000, 4, features=60, apart=0.3)
    moments = standardise_moments(totals_of(x, y))
    expected, reached = [], []
    for strength in (0.01, 0.1, 1.0, 100.0):
        fit = WithinClassRidge(strength)(moments)
        to_density, constant = density(fit)
        s = (new - moments.centre) * moments.inverse @ fit.weight + fit.bias
        reached.append(((s @ to_density + constant + moments.shares.log()).argmax(1) == labels).double().mean())
        expected.append(expected_accuracy(moments, fit))
    chosen = int(torch.stack(expected).argmax())
    assert max(reached) - reached[chosen] < 0.01
    assert min(reached) < max(reached) - 0.02


def test_auto_takes_the_head_with_the_highest_expected_accuracy_and_says_which():
    moments = standardise_moments(totals_of(*drawn(150, 5, features=40)))
    heads = heads_of(moments)
    assert len(heads) == len(HEADS)
    assert [head.expected_accuracy for head in heads] == sorted((h.expected_accuracy for h in heads), reverse=True)
    fit = Auto()(moments)
    assert float(expected_accuracy(moments, fit)) == heads[0].expected_accuracy
    assert heads[0].solver["kind"] == fit.solver.kind
    assert fit.solver.strength == heads[0].solver["strength"] is not None


def test_with_fewer_images_than_features_the_strength_leaves_half_of_the_freedom():
    """Close to interpolation, sums say nothing about new images: the digits lost three points there."""
    x, y = drawn(50, 6, features=80)
    moments = standardise_moments(totals_of(x, y))
    strength = WithinClassRidge()(moments).solver.strength
    assert strength > 0.05
    assert torch.isfinite(WithinClassRidge(1e-9)(moments).weight).all()


@pytest.mark.parametrize("kind", SOLVERS)
def test_every_head_is_the_same_for_any_division_of_the_images(kind):
    x, y = drawn(300, 8)
    whole = totals_of(x, y)
    parts = [totals_of(x[y == c], y[y == c]) for c in range(3)]
    added = SummedMoments(*(sum(getattr(p, name) for p in parts) for name in ("counts", "sums", "second")))
    one, other = (SOLVERS[kind]()(standardise_moments(totals)) for totals in (whole, added))
    torch.testing.assert_close(one.weight, other.weight)


def test_features_that_do_not_vary_and_a_single_class_are_no_obstacle():
    x, y = drawn(100, 9)
    x[:, 3] = 5.0
    moments = standardise_moments(totals_of(x, y))
    assert WithinClassRidge()(moments).weight[3].abs().max() < 1e-12
    alone = standardise_moments(totals_of(x[y == 1], y[y == 1]))
    assert torch.isfinite(WithinClassRidge()(alone).weight).all()
    assert torch.isfinite(UnitColumns()(alone).means).all()


def test_columns_of_unit_norm_point_where_within_class_regression_does_and_are_calibrated_on_draws():
    x, y = drawn(200, 10)
    moments = standardise_moments(totals_of(x, y))
    fit = UnitColumns(0.05)(moments)
    z = (x - moments.centre) * moments.inverse
    torch.testing.assert_close(fit.weight, F.normalize(discriminant(z, y, torch.ones(12).double()), dim=0))
    scores = (gaussian_scores(moments, fit)(x) + moments.shares.log()).log_softmax(1)
    torch.testing.assert_close(scores, (z @ fit.weight / fit.temperature + moments.shares.log()).log_softmax(1))
    assert fit.solver == UnitColumns(0.05)
