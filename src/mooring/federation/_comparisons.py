"""Comparisons between sites: what is unusual, and needs a person's decision.

Unusual is not wrong: another scanner, other colours or a rare class look unusual too. So nothing here rejects a site.
Each comparison leaves the judged site out of its yardstick. It needs the agreement of at least two other sites, and of
more of them than speak for the site. A copy is found between two sites and is reported for both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from mooring.federation._rules import SCATTER, class_means
from mooring.models import PROTOTYPES
from mooring.types import Upload
from mooring.uploads import Moments, SummedMoments

COPIED = 1e-9  # chance that two sites with different images are as close to each other
LEAST_SLOPE = 0.25  # of a site's class means along those of another: 1 if they agree, 0 if its labels are shuffled
PLAIN_SLOPE = 0.75  # what three standard errors must stay below
AGREEING_SLOPE = 0.5  # from here on a witness speaks for the site, however uncertain it is
SWAPPED_SLOPE = -0.5  # of the difference of two class means along another site's: 1 if they agree, -1 if swapped
AGREEING_SWAP = 0.0  # likewise
ERRORS, SWAP_ERRORS = 3.0, 5.0  # standard errors; more of them where many pairs of classes are looked at
FEWEST_WITNESSES = 2
FREEDOM = 10  # images beyond one for each class, below which a site's spread is too uncertain for a yardstick
LARGEST_SHARE = 0.25  # of all images, which a site may claim without a question
TIMES_MEDIAN = 10  # the median of the other sites, likewise
TIMES_SPREAD = 4.0  # the other sites' effective number of directions
PROTOTYPE_TIMES = 1000  # the median of the other sites
MOST_PAIRS, MOST_NAMES = 3, 4  # that a sentence lists

Pairs = frozenset[tuple[int, int]]  # of classes


@dataclass(frozen=True)
class UnusualSign:
    """Something unusual about a site, in plain words."""

    client: int
    text: str


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
        class_means(totals),
        freedom,
        within.diagonal().clone(),
        within.trace().item(),
        within.square().sum().item(),
    )


def unusual_moments(part: Moments, uploads: Sequence[Upload], classes: Sequence[str]) -> Iterator[UnusualSign]:
    """Everything unusual about the moments of these sites. One covariance matrix is in memory at a time."""
    sites = [site_moments(part, upload) for upload in uploads]
    yield from copies(sites)
    yield from widespread(sites)
    yield from misplaced(part, uploads, sites, classes)


def copies(sites: Sequence[SiteMoments]) -> Iterator[UnusualSign]:
    """Class means closer to those of another site than different images of the same classes would bring them.

    For different images  sum_c |m_ac - m_bc|^2 / (1/n_ac + 1/n_bc)  is about  tr(S)/r chi^2_(rC),
    r = tr(S)^2 / tr(S^2),  S the covariance within the C classes that both have (Satterthwaite 1946). S is that of
    either site, and the larger chance counts: no third site, and no exaggerated spread of one of the two, makes two
    honest sites look alike.
    """
    for a in sites:
        twins = [b.name for b in sites if b is not a and chance(a, b) < COPIED]
        if twins:
            yield UnusualSign(
                a.client, f"it looks like a copy: it has the images of {', '.join(twins)}, or nearly all of them"
            )


def chance(a: SiteMoments, b: SiteMoments) -> float:
    """How probable it is that means of different images are as close; 1 where nothing can be said."""
    from scipy.special import chdtr  # chi squared; importing scipy.stats would add 0.7 s to every start

    both = (a.counts > 0) & (b.counts > 0)
    yardsticks = [site for site in (a, b) if site.freedom > 0 and site.squared > 0]
    if not both.any() or not yardsticks:
        return 1.0
    apart = (a.means - b.means)[both].square().sum(1)
    distance = (apart / (1 / a.counts[both] + 1 / b.counts[both])).sum().item()
    freedom = int(both.sum())
    return max(float(chdtr(s.directions * freedom, distance / s.trace * s.directions)) for s in yardsticks)


def widespread(sites: Sequence[SiteMoments]) -> Iterator[UnusualSign]:
    """A site whose features vary in many more directions than those of every other site: noise, or made-up moments."""
    telling = [site for site in sites if site.freedom >= FREEDOM and site.squared > 0]
    for site in telling:
        others = [other.directions for other in telling if other is not site]
        if len(others) >= FEWEST_WITNESSES and site.directions > TIMES_SPREAD * median(others):
            text = f"its features vary in about {site.directions:.0f} directions, and at the other sites in"
            yield UnusualSign(site.client, f"{text} {median(others):.0f}: added noise, or moments that were made up")


def misplaced(
    part: Moments, uploads: Sequence[Upload], sites: Sequence[SiteMoments], classes: Sequence[str]
) -> Iterator[UnusualSign]:
    """Sites whose classes lie elsewhere than at the other sites, and sites with two classes exchanged."""
    if len(sites) <= FEWEST_WITNESSES:
        return
    unit = torch.stack([site.variance for site in sites if site.freedom >= FREEDOM] or [sites[0].variance]).median(0)
    varies = unit.values > 0
    inverse = torch.where(varies, unit.values, 1.0).rsqrt() * varies  # (d,): features in units of a typical spread
    judged: dict[int, list[Comparison]] = {site.client: [] for site in sites}
    for upload, witness in zip(uploads, sites, strict=True):
        if witness.freedom < FREEDOM:
            continue
        yardstick = yardstick_of(part, upload, inverse)
        for site in sites:
            if site is not witness:
                judged[site.client].append(compare(site, witness, yardstick))
    for site in sites:
        yield from elsewhere(site, judged[site.client])
        yield from exchanged(site, judged[site.client], classes)


def elsewhere(site: SiteMoments, found: "Sequence[Comparison]") -> Iterator[UnusualSign]:
    against = [one for one in found if one.slope is not None and one.slope.is_bad]
    in_favour = [one for one in found if one.slope is not None and one.slope.is_good]
    if agreed(len(against), len(in_favour)):
        middle = median(one.slope.value for one in against if one.slope is not None)
        where = f"its classes lie elsewhere than those of {named(against)}"
        yield UnusualSign(site.client, f"{where} (agreement {middle:.2f}; 1 is full)")


def exchanged(site: SiteMoments, found: "Sequence[Comparison]", classes: Sequence[str]) -> Iterator[UnusualSign]:
    pairs = sorted({pair for one in found for pair in one.swapped})
    certain = [pair for pair in pairs if agreed(*(sum(pair in held for held in of) for of in pair_votes(found)))]
    if certain:
        against = [one for one in found if any(pair in one.swapped for pair in certain)]
        which = ", ".join(f"{classes[a]!r} and {classes[b]!r}" for a, b in certain[:MOST_PAIRS])
        yield UnusualSign(site.client, f"compared with those of {named(against)}, its classes {which} look exchanged")


def pair_votes(found: "Sequence[Comparison]") -> tuple[list[Pairs], list[Pairs]]:
    return [one.swapped for one in found], [one.in_order for one in found]


def named(found: "Sequence[Comparison]") -> str:
    """The witnesses, so that a reader sees who accuses."""
    names = [one.witness for one in found]
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def agreed(against: int, in_favour: int) -> bool:
    """At least two witnesses, and more than speak for the site; who can tell neither is not counted."""
    return against >= FEWEST_WITNESSES and against > in_favour


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
    along = differences(of.m @ of.large.T)  # (C, C): <m_a - m_b, M_a - M_b>
    spread = 1 / of.big[:, None] + 1 / of.big
    length = differences(of.large @ of.large.T) - yardstick.trace * spread
    across = differences(of.large @ yardstick.within @ of.large.T)
    variance = (1 / of.n[:, None] + 1 / of.n) * (across + yardstick.squared * spread)
    length = length.clamp(min=torch.finfo(length.dtype).tiny)
    slope, error = along / length, variance.clamp(min=0).sqrt() / length
    bad = (slope < SWAPPED_SLOPE) & (slope + SWAP_ERRORS * error < 0)
    return pairs_in(slope >= AGREEING_SWAP, of.classes), pairs_in(bad, of.classes)


def differences(gram: Tensor) -> Tensor:
    """<x_a - x_b, y_a - y_b> for all a and b, from gram = <x_a, y_b>"""
    diagonal = gram.diagonal()
    return diagonal[:, None] + diagonal - gram - gram.T


def pairs_in(chosen: Tensor, classes: list[int]) -> Pairs:
    return frozenset((classes[a], classes[b]) for a, b in chosen.triu(1).nonzero().tolist())


def oversized(uploads: Sequence[Upload]) -> Iterator[UnusualSign]:
    """Sums are weighted by images: a site that claims most of them decides the model."""
    samples = {upload.client: upload.samples for upload in uploads}
    total = sum(samples.values())
    for client, own in samples.items():
        others = [number for other, number in samples.items() if other != client]
        if len(others) >= FEWEST_WITNESSES and own > LARGEST_SHARE * total and own > TIMES_MEDIAN * median(others):
            share = f"it claims {own:,} images, {100 * own / total:.0f} % of all"
            yield UnusualSign(client, f"{share}, and the other sites have about {median(others):,.0f} each")


def absurd_prototypes(uploads: Sequence[Upload]) -> Iterator[UnusualSign]:
    """The largest |p_c| of a client, against the median of the others'."""
    norms = {upload.client: upload.tensors[PROTOTYPES].double().norm(dim=1).amax().item() for upload in uploads}
    for client, own in norms.items():
        others = [norm for other, norm in norms.items() if other != client]
        if len(others) >= FEWEST_WITNESSES and own > PROTOTYPE_TIMES * median(others):
            yield UnusualSign(
                client, f"it has a prototype of length {own:.3g}, and the other sites have {median(others):.3g}"
            )
