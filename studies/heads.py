"""Heads from the same sums, on images set aside of the training images; test images are never read.

    python studies/heads.py IMAGES DATA[:ROOT]=MAP...          heads that `fusion.solver` offers
    python studies/heads.py IMAGES --richer DATA[:ROOT]=MAP... heads that would need another upload

Maps are those of studies/feature_maps.py, which keeps the features. Two thirds of the images are summed, the others are
looked at, in three random divisions. A row is one set: the accuracy of `ridge`, then every other head minus ridge, each
with its deviation over the divisions. In brackets the expected accuracy, which needs no images.

--richer asks how much could be gained at most. Choices that a site or the server would have to make are made on the
images that are looked at: the shrinkage and the share of quadratic discriminant analysis (per-class covariances in the
leading principal directions of all images, SIZES of them; alone, and added to ridge), the share of unit columns that
are added to ridge, and ridge over codes (features in groups of three; which of them exceed their mean is one of eight
codes) beside the features.
"""

import sys
from collections.abc import Callable, Iterator
from statistics import fmean, stdev
from time import monotonic

import torch
import torch.nn.functional as F
from torch import Tensor

from feature_maps import features
from mooring.fusion import gaussian_scores, standardise_moments
from mooring.fusion._solvers import Discriminant, Ridge, Solver, Standardised
from mooring.fusion._unit_columns import UnitColumns
from mooring.fusion._within_class import WithinClassRidge, solve
from mooring.uploads import SummedMoments

DIVISIONS = (1, 2, 3)
FITTED = 2 / 3
OFFERED: dict[str, Solver] = {
    "ridge": Ridge(),
    "within-class (equal)": WithinClassRidge(towards="equal"),
    "within-class (own)": WithinClassRidge(towards="own"),
    "discriminant": Discriminant(),
    "unit-columns": UnitColumns(),
}
SIZES = (64, 192)
SHRINKAGES = (0.3, 0.6, 0.9)
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
GROUPS, CODES = 128, 8
Found = dict[str, tuple[float, float | None]]  # accuracy and expected accuracy of each head


class Division:
    """Features and labels, two thirds of them summed."""

    def __init__(self, x: Tensor, y: Tensor, seed: int) -> None:
        order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
        first, rest = order.split([round(FITTED * len(y)), len(y) - round(FITTED * len(y))])
        self.fitted, self.labels = x[first].double(), y[first]
        self.new, self.looked_at = x[rest].double(), y[rest]
        self.moments = moments_of(self.fitted, self.labels)

    def scores(self, solver: Solver) -> tuple[Tensor, float | None]:
        fit, head = solve(solver, self.moments)
        return gaussian_scores(self.moments, fit)(self.new) + self.moments.shares.log(), head.expected_accuracy

    def accuracy(self, scores: Tensor) -> float:
        return float((scores.argmax(1) == self.looked_at).double().mean())


def moments_of(x: Tensor, y: Tensor) -> Standardised:
    one_hot = F.one_hot(y).double()
    return standardise_moments(SummedMoments(one_hot.sum(0), one_hot.T @ x, x.T @ x))


def offered(own: Division) -> Found:
    found = {name: own.scores(solver) for name, solver in OFFERED.items()}
    right = {name: (scores.argmax(1) == own.looked_at).double() for name, (scores, _) in found.items()}
    best = max(right, key=lambda name: float(right[name][::2].mean()))
    gain = float((right[best] - right["ridge"])[1::2].mean())
    heads = {name: (float(right[name].mean()), expected) for name, (_, expected) in found.items()}
    return heads | {"auto": (heads["ridge"][0] + gain, None)}


def richer(own: Division) -> Found:
    """The best of each family: a bound on what it can add."""
    (ridge, expected), (unit, _) = own.scores(Ridge()), own.scores(UnitColumns())
    ridge, unit = ridge.log_softmax(1), unit.log_softmax(1)
    found: Found = {"ridge": (own.accuracy(ridge), expected)}
    found["ridge + unit-columns"] = (best_sum(own, ridge, unit), None)
    values, vectors = torch.linalg.eigh(own.moments.covariance)
    for size in SIZES:
        project = vectors[:, -size:] * values[-size:].rsqrt()
        quadratic = [scores.log_softmax(1) for scores in quadratic_scores(own, project)]
        found[f"quadratic, {size}"] = (max(map(own.accuracy, quadratic)), None)
        found[f"ridge + quadratic, {size}"] = (max(best_sum(own, ridge, scores) for scores in quadratic), None)
    found["codes"], found["features + codes"] = ((accuracy, None) for accuracy in with_codes(own))
    return found


def best_sum(own: Division, one: Tensor, other: Tensor) -> float:
    return max(own.accuracy(one + share * other) for share in SHARES)


def quadratic_scores(own: Division, project: Tensor) -> Iterator[Tensor]:
    """log N(u; m_c, (1 - g) V_c + g V) + log q_c for every shrinkage g, u the leading principal components"""
    moments = own.moments
    u, new = ((x - moments.centre) * moments.inverse @ project for x in (own.fitted, own.new))
    pooled = project.T @ moments.within @ project
    for shrinkage in SHRINKAGES:
        of_classes = []
        for c, share in enumerate(moments.shares):
            inside = u[own.labels == c]
            mean = inside.mean(0)
            covariance = (1 - shrinkage) * torch.cov(inside.T, correction=0) + shrinkage * pooled
            normal = torch.distributions.MultivariateNormal(mean, covariance, validate_args=False)
            of_classes.append(normal.log_prob(new) + share.log())
        yield torch.stack(of_classes, 1)


def with_codes(own: Division) -> Iterator[float]:
    """Ridge over codes of random groups of features, alone and beside the features."""
    width = own.fitted.shape[1]
    groups = torch.randint(width, (GROUPS, 3), generator=torch.Generator().manual_seed(0))
    place = torch.tensor([1, 2, 4])

    def codes(x: Tensor) -> Tensor:
        above = (x > own.moments.centre)[:, groups]  # (N, GROUPS, 3)
        return F.one_hot((above * place).sum(2), CODES).flatten(1).double()

    for fitted, new in (
        (codes(own.fitted), codes(own.new)),
        (torch.cat([own.fitted, codes(own.fitted)], 1), torch.cat([own.new, codes(own.new)], 1)),
    ):
        moments = moments_of(fitted, own.labels)
        scores = gaussian_scores(moments, Ridge()(moments))(new)
        yield own.accuracy(scores + moments.shares.log())


def row(word: str, images: int, measure: Callable[[Division], Found]) -> None:
    data, _, map_word = word.partition("=")
    x, y = features(data, images, map_word)
    found = [measure(Division(x, y, seed)) for seed in DIVISIONS]
    cells = []
    for name in found[0]:
        minus = 0.0 if name == "ridge" else 1.0
        values = [each[name][0] - minus * each["ridge"][0] for each in found]
        expected = [each[name][1] for each in found]
        said = "" if None in expected else f" ({fmean(filter(None, expected)):.3f})"
        sign = "+" if minus else ""
        cells.append(f"{name}: {fmean(values):{sign}.4f} ± {stdev(values):.4f}{said}")
    print(f"{data}, {map_word}, {len(y)} images: " + "; ".join(cells), flush=True)


if __name__ == "__main__":
    words = [word for word in sys.argv[2:] if word != "--richer"]
    if not words:
        sys.exit(__doc__)
    began = monotonic()
    for word in words:
        row(word, int(sys.argv[1]), richer if "--richer" in sys.argv else offered)
    print(f"{monotonic() - began:.0f} seconds", file=sys.stderr)
