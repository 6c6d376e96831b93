"""Who was in the training set? A likelihood-ratio attack on the released head, with and without noise on the sums.

    python studies/membership.py DATA[:ROOT] MAP

Data and maps are those of studies/feature_maps.py. From a pool of training images 16 models are released, each from a
random half of the pool, divided among five sites. One after the other is attacked, with the other 15 as shadow models
(LiRA, Carlini et al. 2022): for every image of the pool the attacker fits a Gaussian to its log-odds, log p_y / (1 -
p_y), in the shadow models that have it and one in those that do not, with one variance for all images. The score is the
ratio of the two likelihoods of the log-odds in the attacked model. A row is one kind of release: accuracy on 2,000
images outside of the pool, area under the ROC curve, and the share of members found where one in a thousand non-members
is taken for one (mean and deviation over the 16 models), beside what epsilon and delta allow at most, e^epsilon 0.001 +
delta. An attacker who guesses has 0.500 and 0.001.
"""

import sys
from collections.abc import Iterator
from math import exp

import torch
from torch import Tensor

from feature_maps import blueprint_of, experiment_of, features
from mooring.evaluate import auc, log_odds
from mooring.fusion import FrozenFeatures
from mooring.models import Blueprint, FeatureMap
from mooring.seeds import generator
from privacy import DELTA, released

IMAGES, POOL = 10_000, 8_000
MODELS = 16
MISTAKEN = 0.001  # share of non-members that are taken for members
SIZE = 64  # numbers per image under noise: the default
RELEASES: tuple[tuple[int, int | None, float | None], ...] = (  # members, size and epsilon
    (4_000, None, None),
    (1_000, None, None),
    (4_000, SIZE, None),
    *((4_000, SIZE, epsilon) for epsilon in (10.0, 3.0, 1.0)),
)


def measure(data: str, word: str) -> None:
    x, y = features(data, IMAGES, word)
    experiment = experiment_of(data, word)
    train = experiment.data.train()
    blueprint = blueprint_of(experiment, train.shape, train.classes)
    phi: FeatureMap = experiment.method.fusion.map  # type: ignore[union-attr]
    print("| release | members | accuracy | AUC | members found | at most |\n|---|---|---|---|---|---|")
    for members, size, epsilon in RELEASES:
        pool = x[: 2 * members], y[: 2 * members]
        inside, odds, right = [], [], []
        for chosen, model in models(phi, blueprint, pool, size, epsilon):
            inside.append(torch.zeros(2 * members, dtype=torch.bool).index_fill(0, chosen, True))
            odds.append(of_label(model, *pool))
            right.append(float((predicted(model, x[POOL:]) == y[POOL:]).double().mean()))
        areas, found = attack(torch.stack(odds), torch.stack(inside))
        noise = "no noise" if epsilon is None else f"epsilon {epsilon:g}"
        bound = "-" if epsilon is None else f"{min(1.0, exp(epsilon) * MISTAKEN + DELTA):.3f}"
        cells = [told(torch.tensor(right)), told(areas), told(found, 4), bound]
        print(f"| {f'{size} numbers, ' if size else ''}{noise} | {members:,} | {' | '.join(cells)} |", flush=True)


def models(
    phi: FeatureMap, blueprint: Blueprint, pool: tuple[Tensor, Tensor], size: int | None, epsilon: float | None
) -> Iterator[tuple[Tensor, FrozenFeatures]]:
    """Who is in it, and the model."""
    half = len(pool[1]) // 2
    for seed in range(MODELS):
        chosen = torch.randperm(2 * half, generator=generator(seed, "membership"))[:half]
        yield chosen, released(phi, blueprint, (pool[0][chosen], pool[1][chosen]), size, epsilon, seed)


def of_label(model: FrozenFeatures, x: Tensor, y: Tensor) -> Tensor:
    """log p_y / (1 - p_y) of every image, (N,)"""
    odds = log_odds(torch.cat([model.from_features(part.double()) for part in x.split(1000)]).double())
    return odds.gather(1, y[:, None])[:, 0]


def predicted(model: FrozenFeatures, x: Tensor) -> Tensor:
    return torch.cat([model.from_features(part.double()).argmax(1) for part in x.split(1000)])


def attack(odds: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
    """AUC and members found for every model, (M,) each; odds and membership are (M, N)."""
    areas, found = [], []
    for target in range(len(odds)):
        shadows = torch.arange(len(odds)) != target
        ratio = likelihood(odds, inside, shadows, target) - likelihood(odds, ~inside, shadows, target)
        member = inside[target]
        areas.append(auc(ratio, member) or 0.0)
        others = ratio[~member].sort(descending=True).values
        found.append(float((ratio[member] > others[int(MISTAKEN * len(others))]).double().mean()))
    return torch.tensor(areas), torch.tensor(found)


def likelihood(odds: Tensor, chosen: Tensor, shadows: Tensor, target: int) -> Tensor:
    """log N(odds in the attacked model; mean of the image over its chosen shadows, one variance for all), (N,)"""
    weight = chosen[shadows].double()
    count = weight.sum(0).clamp(min=1)
    mean = (weight * odds[shadows]).sum(0) / count
    variance = (weight * (odds[shadows] - mean).square()).sum() / (count - 1).clamp(min=0).sum()
    return -0.5 * (odds[target] - mean).square() / variance - 0.5 * variance.log()


def told(values: Tensor, digits: int = 3) -> str:
    return f"{values.double().mean():.{digits}f} ± {values.double().std():.{digits}f}"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    measure(sys.argv[1], sys.argv[2])
