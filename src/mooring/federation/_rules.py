"""Rules that hold for every honest upload, whatever its images look like: an upload that breaks one is rejected.

`admit` checks each tensor by itself (shape, type, finite, counted as promised). The rules here cost more: could any
images have these moments, could this feature map produce them, and does the site stay within the job's limits. Each
rule looks at one upload alone, so no site can cause the rejection of another.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.models import Blueprint, FeatureMap, simple_images
from mooring.types import Upload
from mooring.uploads import Moments, NoisedMoments, Part, Parts, SecondMomentKind, SummedMoments

ROUNDING = 1e-6  # of the trace: what sums in float32 may be off
SLACK = 10.0  # times the largest feature of the probes


@dataclass(frozen=True)
class SiteLimits:
    """What a job allows a single site."""

    images: int | None = None  # None: no limit was declared


NO_LIMITS = SiteLimits()


def broken_rules(upload: Upload, needs: Parts, bounds: Mapping[Part, float], limits: SiteLimits) -> Iterator[str]:
    """Every rule that this upload breaks, in plain words."""
    noised = [part for part in needs if isinstance(part, NoisedMoments)]
    if limits.images is not None:
        slack = max((part.count_slack(upload.tensors) for part in noised), default=0.0)
        if upload.samples > limits.images + slack:
            yield f"it claims {upload.samples:,} images, and the job allows {limits.images:,} per site"
    for noised_part in noised:
        draws = noised_part.draws(upload.tensors)
        if draws != 1:
            yield f"it says that {draws:,} noises are in its sums, and a site adds one"
    for part in sorted((part for part in needs if isinstance(part, Moments)), key=repr):
        totals = part.total([upload])
        scatter = SCATTER[part.second](totals)  # (1 or C, d, d)
        squares = squares_of(totals, scatter)
        yield from impossible_moments(part, totals, scatter, squares)
        yield from beyond_scale(totals, squares, bounds[part])


def impossible_moments(part: Moments, totals: SummedMoments, scatter: Tensor, squares: Tensor) -> Iterator[str]:
    """sum_c x x' - s_c s_c' / n_c is a sum of squares over n - C directions, C the number of classes with images.

    It has no negative eigenvalue, and at most n - C eigenvalues above 0, except for rounding.
    """
    slack = ROUNDING * squares.sum() + torch.finfo(torch.float64).tiny
    shifted = scatter + slack * torch.eye(scatter.shape[-1], dtype=scatter.dtype)
    if torch.linalg.cholesky_ex(shifted).info.any():
        yield "its second moments are not positive semidefinite; no images produce them"
        return
    freedoms = degrees_of_freedom(part, totals)
    pairs = () if part.second == "diagonal" else zip(scatter, freedoms, strict=True)
    if any(eigenvalue_beyond(matrix, rank, slack) > slack for matrix, rank in pairs):
        yield f"its second moments vary in more directions than {int(totals.counts.sum()):,} images can"


def eigenvalue_beyond(matrix: Tensor, rank: int, slack: Tensor) -> float:
    """The largest eigenvalue that a matrix of this rank does not have; 0 if it is certainly below `slack`.

    A pivoted Cholesky decomposition of A with r pivots leaves S, and the eigenvalue r + 1 of A is at most tr(S): most
    matrices need no eigenvalues.
    """
    from scipy.linalg.lapack import dpstrf  # importing scipy.linalg would add to every start

    d = len(matrix)
    if rank >= d or dpstrf(matrix.numpy(), tol=slack.item() / d)[2] <= rank:
        return 0.0
    return float(torch.linalg.eigvalsh(matrix)[d - rank - 1])  # ascending


def degrees_of_freedom(part: Moments, totals: SummedMoments) -> list[int]:
    """How many directions the scatter around class means can have, for each of its matrices."""
    if part.second == "per-class":
        return (totals.counts - 1).clamp(min=0).long().tolist()
    return [int((totals.counts - 1).clamp(min=0).sum())]


def beyond_scale(totals: SummedMoments, squares: Tensor, bound: float) -> Iterator[str]:
    """sum x^2 <= n bound^2 and |sum_c x| <= n_c bound, for every feature."""
    root = (squares.amax() / totals.counts.sum()).sqrt().item()
    largest = max(root, totals.means.abs().amax().item())
    if not largest <= bound:
        yield f"it has a feature of size {largest:.3g}, and this feature map reaches {bound:.3g}"


def feature_bounds(needs: Parts, blueprint: Blueprint) -> dict[Part, float]:
    """The largest feature that each part may report."""
    return {part: largest_feature(part.map, blueprint) for part in needs if isinstance(part, Moments)}


def largest_feature(feature_map: FeatureMap, blueprint: Blueprint) -> float:
    """SLACK times the largest |phi_j(x)| over synthetic images: flat, striped, and noise of four sizes."""
    phi = feature_map.build(blueprint)
    return SLACK * float(phi(simple_images(blueprint.shape)).abs().amax())


def squares_of(totals: SummedMoments, scatter: Tensor) -> Tensor:
    """sum x^2, (d,), from the scatter around class means"""
    between = (totals.sums.square() / totals.counts.clamp(min=1)[:, None]).sum(0)
    return scatter.diagonal(dim1=1, dim2=2).sum(0) + between


def shared_scatter(totals: SummedMoments) -> Tensor:
    return (totals.second - totals.means.T @ totals.sums)[None]


def class_scatter(totals: SummedMoments) -> Tensor:
    return totals.second - totals.means[:, :, None] * totals.sums[:, None, :]


def diagonal_scatter(totals: SummedMoments) -> Tensor:
    """Covariances are unknown; the largest possible ones make every standard error too large, never too small."""
    root = (totals.second - totals.means * totals.sums).sum(0).clamp(min=0).sqrt()
    return torch.outer(root, root)[None]


SCATTER: dict[
    SecondMomentKind, Callable[[SummedMoments], Tensor]
] = {  # around class means: one matrix, or one for each class
    "shared": shared_scatter,
    "per-class": class_scatter,
    "diagonal": diagonal_scatter,
}
