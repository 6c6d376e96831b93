"""Where the classes of one site lie, compared with those of another."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.federation._rules import SCATTER
from mooring.types import Upload
from mooring.uploads import Moments, SummedMoments

LEAST_SLOPE = 0.25  # of a site's class means along those of another: 1 if they agree, 0 if its labels are shuffled
PLAIN_SLOPE = 0.75  # what three standard errors must stay below
AGREEING_SLOPE = 0.5  # from here on a witness speaks for the site, however uncertain it is
SWAPPED_SLOPE = -0.5  # of the difference of two class means along another site's: 1 if they agree, -1 if swapped
AGREEING_SWAP = 0.0  # likewise
ERRORS, SWAP_ERRORS = 3.0, 5.0  # standard errors; more of them where many pairs of classes are looked at
Pairs = frozenset[tuple[int, int]]  # of classes


@dataclass(frozen=True)
class SiteMoments:
    """What the comparisons remember of an upload; its covariance matrix is computed again when it is needed."""

    client: int
    name: str
    counts: Tensor  # (C,)
    means: Tensor  # (C, d)
    freedom: int  # n - C
    variance: Tensor  # (d,), within classes
    trace: float  # tr(S), S the covariance within classes
    squared: float  # tr(S^2)

    @property
    def directions(self) -> float:
        """tr(S)^2 / tr(S^2): in how many directions features vary, effectively."""
        return self.trace**2 / self.squared if self.squared > 0 else 0.0


def name_of(upload: Upload) -> str:
    return upload.site or f"client {upload.client}"


def within_of(part: Moments, totals: SummedMoments) -> tuple[Tensor, int]:
    """The covariance within classes (d, d), and the degrees of freedom behind it."""
    freedom = int((totals.counts - 1).clamp(min=0).sum())
    return SCATTER[part.second](totals).sum(0) / max(1, freedom), freedom


def site_moments(part: Moments, upload: Upload) -> SiteMoments:
    totals = part.total([upload])
    within, freedom = within_of(part, totals)
    return SiteMoments(
        upload.client,
        name_of(upload),
        totals.counts,
        totals.means,
        freedom,
        within.diagonal().clone(),
        within.trace().item(),
        within.square().sum().item(),
    )


@dataclass(frozen=True)
class Slope:
    """How far a site's class means follow those of another, 1 for the same classes, and its standard error."""

    value: float
    error: float

    @property
    def is_good(self) -> bool:
        return self.value >= AGREEING_SLOPE

    @property
    def is_bad(self) -> bool:
        return self.value < LEAST_SLOPE and self.value + ERRORS * self.error < PLAIN_SLOPE


@dataclass(frozen=True)
class Comparison:
    """What one witness says of one site."""

    witness: str
    slope: Slope | None = None  # None: nothing can be said
    in_order: Pairs = frozenset()  # pairs of classes that are not swapped
    swapped: Pairs = frozenset()


@dataclass(frozen=True)
class Yardstick:
    """The spread within the classes of a witness, with features in units of a typical spread."""

    inverse: Tensor  # (d,), 1 / typical spread; 0 for a feature that does not vary
    within: Tensor  # (d, d)
    trace: float
    squared: float  # tr(within^2)


def yardstick_of(part: Moments, witness: Upload, inverse: Tensor) -> Yardstick:
    within, _ = within_of(part, part.total([witness]))
    within = within * torch.outer(inverse, inverse)
    return Yardstick(inverse, within, within.trace().item(), within.square().sum().item())


@dataclass(frozen=True)
class Shared:
    """The classes that a site and a witness both have."""

    classes: list[int]
    n: Tensor  # (C,), images of the site
    big: Tensor  # (C,), images of the witness
    m: Tensor  # (C, d), class means of the site
    large: Tensor  # (C, d), class means of the witness


def compare(site: SiteMoments, witness: SiteMoments, yardstick: Yardstick) -> Comparison:
    """slope = sum_c w_c <m_c - m, M_c - M> / (sum_c w_c |M_c - M|^2 - noise),  w_c = n_c N_c / (n_c + N_c)

    m_c and n_c are the site's class means and counts, M_c and N_c those of the witness; m and M are their means
    weighted by w_c, or both the witness's mean where a single class is shared. Lengths are in units of a typical
    spread; noise is the expected excess of |M_c - M|^2, because M_c is a mean of N_c images. For two classes a and b
    the slope is

    <m_a - m_b, M_a - M_b> / (|M_a - M_b|^2 - noise)
    """
    both = ((site.counts > 0) & (witness.counts > 0)).nonzero()[:, 0]
    if not len(both):
        return Comparison(witness.name)
    means = (moments.means[both] * yardstick.inverse for moments in (site, witness))
    shared = Shared(both.tolist(), site.counts[both], witness.counts[both], *means)
    origin = (witness.counts @ witness.means / witness.counts.sum()) * yardstick.inverse
    return Comparison(witness.name, overall_slope(shared, yardstick, origin), *swaps(shared, yardstick))


def overall_slope(of: Shared, yardstick: Yardstick, origin: Tensor) -> Slope | None:
    w = of.n * of.big / (of.n + of.big)
    share = w / w.sum()
    alone = len(w) == 1
    m, large = of.m - (origin if alone else share @ of.m), of.large - (origin if alone else share @ of.large)
    noise = yardstick.trace * (w * (1 if alone else 1 - share) / of.big).sum()
    along = (w[:, None] * m * large).sum()
    length = (w[:, None] * large.square()).sum() - noise
    variance = (w.square() / of.n * ((large @ yardstick.within) * large).sum(1)).sum()
    variance = variance + yardstick.squared * (w.square() / of.n / of.big).sum()
    return None if length <= 0 else Slope((along / length).item(), (variance.sqrt() / length).item())


def swaps(of: Shared, yardstick: Yardstick) -> tuple[Pairs, Pairs]:
    """The pairs of classes that are in order, and those that are swapped."""
    along = pairwise_differences(of.m @ of.large.T)  # (C, C): <m_a - m_b, M_a - M_b>
    spread = 1 / of.big[:, None] + 1 / of.big
    length = pairwise_differences(of.large @ of.large.T) - yardstick.trace * spread
    across = pairwise_differences(of.large @ yardstick.within @ of.large.T)
    variance = (1 / of.n[:, None] + 1 / of.n) * (across + yardstick.squared * spread)
    length = length.clamp(min=torch.finfo(length.dtype).tiny)
    slope, error = along / length, variance.clamp(min=0).sqrt() / length
    bad = (slope < SWAPPED_SLOPE) & (slope + SWAP_ERRORS * error < 0)
    return pairs_in(slope >= AGREEING_SWAP, of.classes), pairs_in(bad, of.classes)


def pairwise_differences(gram: Tensor) -> Tensor:
    """<x_a - x_b, y_a - y_b> for all a and b, from gram = <x_a, y_b>"""
    diagonal = gram.diagonal()
    return diagonal[:, None] + diagonal - gram - gram.T


def pairs_in(chosen: Tensor, classes: list[int]) -> Pairs:
    return frozenset((classes[a], classes[b]) for a, b in chosen.triu(1).nonzero().tolist())
