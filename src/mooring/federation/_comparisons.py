"""Comparisons between sites: what is unusual, and needs a person's decision.

Unusual is not wrong: another scanner, other colours or a rare class look unusual too. So nothing here rejects a site.
Each comparison leaves the judged site out of its yardstick. It needs the agreement of at least two other sites, and of
more of them than speak for the site. A copy is found between two sites and is reported for both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

import torch

from mooring.federation._class_positions import Comparison, Pairs, SiteMoments, compare, site_moments, yardstick_of
from mooring.models import PROTOTYPES
from mooring.types import Upload
from mooring.uploads import Moments

COPIED = 1e-9  # chance that two sites with different images are as close to each other
FEWEST_WITNESSES = 2
MOST_WITNESSES = 20  # spread evenly over the sites: comparing every pair of many sites takes longer than training
FREEDOM = 10  # images beyond one for each class, below which a site's spread is too uncertain for a yardstick
LARGEST_SHARE = 0.25  # of all images, which a site may claim without a question
TIMES_MEDIAN = 10  # the median of the other sites, likewise
TIMES_SPREAD = 4.0  # the other sites' effective number of directions
PROTOTYPE_TIMES = 1000  # the median of the other sites
MOST_PAIRS, MOST_NAMES = 3, 4  # that a sentence lists


@dataclass(frozen=True)
class UnusualSign:
    """Something unusual about a site, in plain words."""

    client: int
    text: str


def unusual_moments(part: Moments, uploads: Sequence[Upload], classes: Sequence[str]) -> Iterator[UnusualSign]:
    """Everything unusual about the moments of these sites. One covariance matrix is in memory at a time."""
    sites = [site_moments(part, upload) for upload in uploads]
    yield from copies(sites)
    yield from widespread(sites)
    yield from misplaced(part, uploads, sites, classes)


def copies(sites: Sequence[SiteMoments]) -> Iterator[UnusualSign]:
    """Class means closer to those of another site than different images of the same classes would bring them.

    For different images  sum_c n_c |m_ac - m_bc|^2  is at least about  tr(S)/r chi^2_(rC),  r = tr(S)^2 / tr(S^2),
    n_c and S the counts and the covariance of one of the two sites within the C classes that both have (Satterthwaite
    1946): the means of the other site only add to it. It is computed with the numbers of either site, and the larger
    chance counts. So no counts, no spread and no third site make an honest site look like a copy.
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
    freedom = int(both.sum())

    def of(site: SiteMoments) -> float:
        distance = (apart * site.counts[both]).sum().item()
        return float(chdtr(site.directions * freedom, distance / site.trace * site.directions))

    return max(map(of, yardsticks))


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
    able = [pair for pair in zip(uploads, sites, strict=True) if pair[1].freedom >= FREEDOM]
    for upload, witness in able[:: ceil(len(able) / MOST_WITNESSES) or 1]:
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
