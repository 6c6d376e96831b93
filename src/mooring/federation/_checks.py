"""What no honest site would send, detected from statistics alone: pure functions from uploads to those to set aside.

`admit` has looked at each upload by itself: finite, shaped and counted as promised. Here are the dearer questions:
could any images have these moments, could this feature map, are two sites the same images, and does a site agree with
the others about what a class looks like.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from statistics import median

import torch
from torch import Tensor

from mooring.fusion import Rejection
from mooring.models import PROTOTYPES, Blueprint, FeatureMap, simple_images
from mooring.types import Upload
from mooring.uploads import Moments, SecondMomentKind, SummedMoments

ROUNDING = 1e-6  # of the trace: what sums in float32 may be off
SLACK = 10.0  # times the largest feature of the probes
MOST_TIMES = 1000  # the median of the sites: more images than that are not believed, nor such prototypes
COPIED = 1e-9  # chance that two sites with different images are as near to each other
LEAST_SLOPE = 0.25  # of a site's class means along those of the others: 1 if they agree, 0 if its labels are shuffled
PLAIN_SLOPE = 0.75  # what three standard errors must not reach, for a site to be set aside

UploadCheck = Callable[[Moments, Sequence[Upload]], Iterator[Rejection]]


def suspects(part: Moments, uploads: Sequence[Upload], blueprint: Blueprint) -> tuple[Rejection, ...]:
    """Everybody to set aside, in the order of the questions; who is set aside is no witness in the next one."""
    bound = largest_feature(part.map, blueprint)
    questions: tuple[UploadCheck, ...] = (
        impossible_moments,
        lambda part, uploads: beyond_scale(part, uploads, bound),
        lambda _, uploads: oversized(uploads),
        copies,
        disagreeing,
    )
    found: list[Rejection] = []
    for question in questions:
        found += question(part, without_rejected(uploads, found))
    return tuple(found)


def without_rejected(uploads: Sequence[Upload], rejected: Sequence[Rejection]) -> list[Upload]:
    aside = {rejection.client for rejection in rejected}
    return [upload for upload in uploads if upload.client not in aside]


def rejection(upload: Upload, problem: str) -> Rejection:
    return Rejection(upload.client, upload.site, (problem,))


def impossible_moments(part: Moments, uploads: Sequence[Upload]) -> Iterator[Rejection]:
    """sum_c x x' - s_c s_c' / n_c is a sum of squares: it has no negative eigenvalue, but for rounding."""
    for upload in uploads:
        totals = part.total([upload])
        scatter = SCATTER[part.second](totals)
        slack = ROUNDING * squares_of(part, totals).sum() + torch.finfo(torch.float64).tiny
        if torch.linalg.cholesky_ex(scatter + slack * torch.eye(scatter.shape[-1], dtype=scatter.dtype)).info.any():
            yield rejection(upload, "its second moments are those of no images (a negative eigenvalue)")


def beyond_scale(part: Moments, uploads: Sequence[Upload], bound: float) -> Iterator[Rejection]:
    """sum x^2 <= n bound^2 and |sum_c x| <= n_c bound, for every feature."""
    for upload in uploads:
        totals = part.total([upload])
        root = (squares_of(part, totals).amax() / totals.counts.sum()).sqrt().item()
        largest = max(root, class_means(totals).abs().amax().item())
        if not largest <= bound:
            yield rejection(upload, f"it has a feature of size {largest:.3g}, and this feature map reaches {bound:.3g}")


def oversized(uploads: Sequence[Upload], most: int = MOST_TIMES) -> Iterator[Rejection]:
    """Sums are weighted by images: whoever claims a thousand times as many as is usual would be the only one heard."""
    for upload in uploads:
        others = [other.samples for other in uploads if other.client != upload.client]
        if others and upload.samples > most * median(others):
            yield rejection(upload, f"it claims {upload.samples:,} images, and others have about {median(others):,.0f}")


def absurd_prototypes(uploads: Sequence[Upload], most: int = MOST_TIMES) -> Iterator[Rejection]:
    """The largest |p_c| of a client, against the median of the others'."""
    norms = {upload.client: upload.tensors[PROTOTYPES].double().norm(dim=1).amax().item() for upload in uploads}
    for upload in uploads:
        own, others = norms[upload.client], [norm for client, norm in norms.items() if client != upload.client]
        if others and own > most * median(others):
            yield rejection(upload, f"it has a prototype of length {own:.3g}, and others have {median(others):.3g}")


def copies(part: Moments, uploads: Sequence[Upload]) -> Iterator[Rejection]:
    """Class means nearer to those of a site before it than other images of the same classes would bring them.

    For other images  sum_c |m_ac - m_bc|^2 / (1/n_ac + 1/n_bc)  is about  tr(S)/r chi^2_(rC),  r = tr(S)^2 / tr(S^2),
    S the covariance within the C classes that both have (Satterthwaite 1946).
    """
    if not uploads:
        return
    everybody = part.total(uploads)
    within = SCATTER[part.second](everybody).sum(0) / everybody.counts.sum()
    kept: list[tuple[Upload, SummedMoments]] = []
    for upload in uploads:
        own = part.total([upload])
        own = replace(own, second=own.second[:0])  # only means are compared, and of many sites
        twin = next((other for other, theirs in kept if chance(own, theirs, within) < COPIED), None)
        if twin is None:
            kept.append((upload, own))
        else:
            yield rejection(
                upload, f"it has the images of {twin.site or f'client {twin.client}'}, or nearly all of them"
            )


def chance(a: SummedMoments, b: SummedMoments, within: Tensor) -> float:
    """How probable it is that means of other images are as near; 1 where two sites share no class, or all is one."""
    from scipy.special import chdtr  # chi squared; importing scipy.stats would add 0.7 s to every start

    both = (a.counts > 0) & (b.counts > 0)
    trace, squared = within.trace(), within.square().sum()
    if not both.any() or squared <= 0:
        return 1.0
    apart = (class_means(a) - class_means(b))[both].square().sum(1)
    distance = (apart / (1 / a.counts[both] + 1 / b.counts[both])).sum()
    r = trace.square() / squared
    return float(chdtr((r * both.sum()).item(), (distance / trace * r).item()))


def disagreeing(part: Moments, uploads: Sequence[Upload]) -> Iterator[Rejection]:
    """Sites whose classes lie elsewhere than those of all others together: the worst one first, then the rest again.

    Of two nobody can tell who is right: it takes three.
    """
    left = list(uploads)
    while len(left) >= 3:
        everybody = part.total(left)
        found = [(agreement_of(part, part.total([upload]), everybody), upload) for upload in left]
        bad = [(agreement.slope, upload) for agreement, upload in found if agreement is not None and agreement.is_bad]
        if not bad:
            return
        slope, worst = min(bad, key=lambda pair: pair[0])
        yield rejection(worst, f"its classes do not lie where the others' do (agreement {slope:.2f}; 1 is full)")
        left.remove(worst)


@dataclass(frozen=True)
class Agreement:
    """How far a site's class means follow those of the others, 1 for the same classes, and its standard error."""

    slope: float
    error: float

    @property
    def is_bad(self) -> bool:
        return self.slope < LEAST_SLOPE and self.slope + 3 * self.error < PLAIN_SLOPE


def agreement_of(part: Moments, own: SummedMoments, everybody: SummedMoments) -> Agreement | None:
    """slope = sum_c w_c <m_c - m, M_c - M> / (sum_c w_c |M_c - M|^2 - noise),  w_c = n_c N_c / (n_c + N_c)

    m_c and n_c are the site's class means and counts, M_c and N_c those of all others together; m and M are their
    means weighted by w_c, or both the others' mean where a single class is shared. Lengths are in units of the others'
    spread within classes; noise is what |M_c - M|^2 is too large by on average, M_c being means of N_c images. Nothing
    can be said where no class is shared.
    """
    others = SummedMoments(*(a - b for a, b in zip(astuple(everybody), astuple(own), strict=True)))
    both = (own.counts > 0) & (others.counts > 0)
    spare = others.counts.sum() - (others.counts > 0).sum()
    if not both.any() or spare < 1:
        return None
    within = SCATTER[part.second](others).sum(0) / spare
    varies = within.diagonal() > ROUNDING * squares_of(part, others) / others.counts.sum()
    inverse = torch.where(varies, within.diagonal(), 1.0).rsqrt() * varies
    within = within * torch.outer(inverse, inverse)

    n, big = own.counts[both], others.counts[both]
    m, large = class_means(own)[both] * inverse, class_means(others)[both] * inverse
    w = n * big / (n + big)
    share = w / w.sum()
    alone = len(w) == 1
    origin = others.sums.sum(0) / others.counts.sum() * inverse
    m, large = m - (origin if alone else share @ m), large - (origin if alone else share @ large)
    noise = varies.sum() * (w * (1 if alone else 1 - share) / big).sum()
    along = (w[:, None] * m * large).sum()
    length = (w[:, None] * large.square()).sum() - noise
    variance = (w.square() / n * ((large @ within) * large).sum(1)).sum()
    variance = variance + within.square().sum() * (w.square() / n / big).sum()
    if length <= 0:
        return None
    return Agreement((along / length).item(), (variance.sqrt() / length).item())


def class_means(totals: SummedMoments) -> Tensor:
    """m_c, (C, d), zero where there are no images."""
    return totals.sums / totals.counts.clamp(min=1)[:, None]


def squares_of(part: Moments, totals: SummedMoments) -> Tensor:
    """sum x^2, (d,)"""
    between = (totals.sums.square() / totals.counts.clamp(min=1)[:, None]).sum(0)
    return SCATTER[part.second](totals).sum(0).diagonal() + between


def shared_scatter(totals: SummedMoments) -> Tensor:
    return (totals.second - class_means(totals).T @ totals.sums)[None]


def class_scatter(totals: SummedMoments) -> Tensor:
    return totals.second - class_means(totals)[:, :, None] * totals.sums[:, None, :]


def diagonal_scatter(totals: SummedMoments) -> Tensor:
    """Nobody knows what lies beside the diagonal; the most it can be makes every standard error too large."""
    root = (totals.second - class_means(totals) * totals.sums).sum(0).clamp(min=0).sqrt()
    return torch.outer(root, root)[None]


SCATTER: dict[
    SecondMomentKind, Callable[[SummedMoments], Tensor]
] = {  # around class means: one matrix, or one for each class
    "shared": shared_scatter,
    "per-class": class_scatter,
    "diagonal": diagonal_scatter,
}


def largest_feature(feature_map: FeatureMap, blueprint: Blueprint) -> float:
    """SLACK times the largest |phi_j(x)| over images that nobody took: flat, striped, and noise of four sizes."""
    phi = feature_map.build(blueprint)
    return SLACK * float(phi(simple_images(blueprint.shape)).abs().amax())
