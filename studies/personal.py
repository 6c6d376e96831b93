"""Heads for one site, on images set aside of the training images; test images are never read.

    python studies/personal.py DATA[:ROOT] MAP ALPHA...

Data and maps are those of studies/feature_maps.py. 8,000 training images are divided among five sites by Dirichlet
(seeds 1, 2 and 3), 2,000 others are looked at. A row is a way to make the head of a site: its accuracy on the label
distribution of that site, as the mean over sites, and mean and deviation over seeds. Ways:

- fused: the head of all sites;
- frequencies: `mooring personalise`; divided: the same, divided by the temperature as the scores are;
- power w: the sums of all other sites count w, with the site's frequencies;
- mixture v: v times the probabilities of the site's own head, 1 - v times those of `frequencies`;
- alone: the site's own head.
"""

import sys
from statistics import fmean, stdev

import torch
import torch.nn.functional as F
from torch import Tensor

from feature_maps import features
from mooring.data._partition.base import Population
from mooring.data._partition.dirichlet import Dirichlet
from mooring.fusion import Ridge, class_prior, gaussian_scores, standardise_moments
from mooring.fusion._linear_head import temperature_of
from mooring.seeds import numpy_generator
from mooring.uploads import SummedMoments

IMAGES, FITTED = 10_000, 8_000
SITES, SEEDS = 5, (1, 2, 3)
POWER, MIXTURE = 0.3, 0.3


def sums_of(x: Tensor, y: Tensor, classes: int) -> SummedMoments:
    one_hot = F.one_hot(y, classes).double()
    return SummedMoments(one_hot.sum(0), one_hot.T @ x, x.T @ x)


def combined(one: SummedMoments, other: SummedMoments, weight: float) -> SummedMoments:
    """one + weight * other"""
    return SummedMoments(
        one.counts + weight * other.counts, one.sums + weight * other.sums, one.second + weight * other.second
    )


class Scored:
    """What the head of some sums says of new images: log p(x | c) of the classes it knows, and its temperature."""

    def __init__(self, totals: SummedMoments, new: Tensor, strength: float | None = None) -> None:
        moments = standardise_moments(totals)
        fit = Ridge(strength)(moments)
        assert isinstance(fit.solver, Ridge)
        self.strength, self.temperature = fit.solver.strength, temperature_of(moments, fit)
        self.seen, self.prior = totals.counts > 0, (totals.counts / totals.counts.sum()).log()
        self.likelihood = torch.full((len(new), len(self.seen)), -torch.inf, dtype=torch.float64)
        self.likelihood[:, self.seen] = gaussian_scores(moments, fit)(new)

    def log_probabilities(self) -> Tensor:
        return ((self.likelihood + self.prior.where(self.seen, 0.0)) / self.temperature).log_softmax(1)


def ways(everybody: Scored, total: SummedMoments, own: SummedMoments, new: Tensor) -> dict[str, Tensor]:
    """Scores (N, C) of every way to make the head of a site."""
    frequencies = class_prior(own.counts, total.counts).frequencies.log()
    shift = frequencies - everybody.prior
    fused, alone = everybody.log_probabilities(), Scored(own, new)
    power = Scored(combined(own, combined(total, own, -1), POWER), new, everybody.strength)
    personal = fused + shift
    mixed = (1 - MIXTURE) * personal.softmax(1) + MIXTURE * alone.log_probabilities().exp()
    return {
        "fused": fused,
        "frequencies": personal,
        "frequencies, divided": fused + shift / everybody.temperature,
        f"power {POWER}": power.log_probabilities() + frequencies - power.prior,
        f"mixture {MIXTURE}": mixed,
        "alone": alone.log_probabilities(),
    }


def row(data: str, word: str, alphas: list[float]) -> None:
    x, y = features(data, IMAGES, word)
    first, labels, new, truth = x[:FITTED].double(), y[:FITTED], x[FITTED:].double(), y[FITTED:]
    classes = int(y.max()) + 1
    total = sums_of(first, labels, classes)
    everybody = Scored(total, new)
    for alpha in alphas:
        over_seeds: dict[str, list[float]] = {}
        for seed in SEEDS:
            population = Population(labels.numpy(), classes)
            parts = Dirichlet(SITES, alpha).split(population, numpy_generator(seed, "personal"))
            over_sites: dict[str, list[float]] = {}
            for part in parts:
                if not len(part):
                    continue
                own = sums_of(first[part], labels[part], classes)
                share = (own.counts / own.counts.sum() / torch.bincount(truth, minlength=classes))[truth]
                for name, scores in ways(everybody, total, own, new).items():
                    over_sites.setdefault(name, []).append(float(share @ (scores.argmax(1) == truth).double()))
            for name, values in over_sites.items():
                over_seeds.setdefault(name, []).append(fmean(values))
        if alpha == alphas[0]:
            print(f"| set, features, alpha | {' | '.join(over_seeds)} |\n|---{'|---' * len(over_seeds)}|")
        cells = [f"{fmean(values):.3f} ± {stdev(values):.3f}" for values in over_seeds.values()]
        print(f"| {data}, {word}, {alpha:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    row(sys.argv[1], sys.argv[2], [float(word) for word in sys.argv[3:]])
