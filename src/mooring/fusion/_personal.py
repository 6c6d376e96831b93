"""The fused model for one site: its own class frequencies take the place of everybody's."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Tensor

from mooring.errors import ModelError
from mooring.fusion._frozen_features import FrozenFeatures
from mooring.fusion._gaussian_head import Posterior
from mooring.fusion._predictor import Predictor

STRENGTHS = torch.logspace(-1, 5, 25, dtype=torch.float64)  # four for each power of ten


@dataclass(frozen=True)
class ClassPrior:
    """How common each class is at a site, p_k, and how many images of all sites stand behind it."""

    frequencies: Tensor  # (C,), float64
    strength: float  # m


def class_prior(own: Tensor, total: Tensor) -> ClassPrior:
    """p_k(c) = (n_kc + m q_c) / (n_k + m), q the frequencies at all sites together.

    m has the largest likelihood of the site's labels, each left out in turn,

    sum_c n_kc log ((n_kc - 1 + m q_c) / (n_k - 1 + m))

    A site that is like all others gets their frequencies; where the labels do not tell, m is the largest.
    """
    n, q = own.double(), total.double() / total.sum()
    held = n > 0
    m = STRENGTHS.flip(0)[:, None]
    likelihood = (n[held] * ((n[held] - 1 + m * q[held]) / (n.sum() - 1 + m)).log()).sum(1)
    strength = float(m[likelihood.argmax(), 0])
    return ClassPrior((n + strength * q) / (n.sum() + strength), strength)


def personalise(predictor: Predictor, own: Tensor, total: Tensor) -> FrozenFeatures:
    """score_c(x) = log p(c | x) + log p_k(c) - log q_c: the same features and likelihood, with the prior of a site.

    `own` are the images of each class at the site, `total` those that the predictor was computed from. The shift is not
    divided by the temperature: that one makes p(c | x) a probability, and a change of priors asks for no more.
    """
    if not can_be_personal(predictor):
        raise ModelError(
            "the scores of this model are not probabilities, so it cannot be personalised",
            "use a model of the method mooring, or of the fusion linear-head",
        )
    assert isinstance(predictor, FrozenFeatures)
    assert isinstance(predictor.head, Posterior)
    prior = (predictor.head.log_prior + prior_shift(own, total)[predictor.seen]).log_softmax(0)
    head = Posterior(predictor.head.likelihood, prior)
    own_phi = predictor.map, predictor.phi
    result = FrozenFeatures(predictor.blueprint, *own_phi, head, predictor.seen, predictor.confidence)
    result.typical = predictor.typical
    return result


def can_be_personal(predictor: Predictor) -> bool:
    """A head over sums whose scores are probabilities."""
    of_sums = isinstance(predictor, FrozenFeatures) and isinstance(predictor.head, Posterior)
    return of_sums and predictor.confidence == "probability"


def prior_shift(own: Tensor, total: Tensor) -> Tensor:
    """log p_k(c) - log q_c, (C,); 0 for a class that no site has"""
    q = total.double() / total.sum()
    ratio = class_prior(own, total).frequencies / q
    return torch.where(total > 0, ratio, torch.ones_like(ratio)).log()


def mean_on_own_labels(scores: Tensor, labels: Tensor, own: Sequence[Sequence[int]]) -> tuple[float, float, int] | None:
    """Accuracy on the label distribution of each site, as scored and personalised: means over sites, and how many.

    sum_c (n_kc / n_k) recall_c, of log-probabilities (N, C) for test images; `own` is n_kc, (K, C). The test images of
    a class stand for those of every site. Classes without a test image, and sites with no other, are left out. None
    unless there are two sites.
    """
    if len(own) < 2:
        return None
    counts = torch.tensor(own, dtype=torch.float64)
    total, tested = counts.sum(0), torch.bincount(labels, minlength=counts.shape[1])
    hit = (scores.argmax(1) == labels).double()
    found = []
    for n in counts:
        held = n * (tested > 0)
        if not held.sum():
            continue
        share = (held / held.sum() / tested.clamp(min=1))[labels]  # (N,), of every test image
        there = share > 0
        moved = (scores[there] + prior_shift(n, total).to(scores.dtype)).argmax(1) == labels[there]
        found.append((float(share @ hit), float(share[there] @ moved.double())))
    if not found:
        return None
    fused, personal = map(fmean, zip(*found, strict=True))
    return fused, personal, len(found)
