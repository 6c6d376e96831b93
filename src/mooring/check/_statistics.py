"""Statistics of the images of a site. They add up, so sites can compare themselves without showing an image."""

import hmac
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import log2, sqrt

from mooring.check._files import CheckedFile
from mooring.wording import plural

FAR = 1.5  # standard deviations between a site and all others
LEAST = 10  # images of a class whose number is stated
FEWEST = 20  # images of a site that is compared
DIGITS = 32  # of a salted hash
MEASURES = ("brightness", "contrast", "redness", "blueness", "size")
WORDS = {
    "brightness": ("darker", "brighter"),
    "contrast": ("with less contrast", "with more contrast"),
    "redness": ("less red", "redder"),
    "blueness": ("less blue", "bluer"),
    "size": ("smaller", "larger"),
}


@dataclass(frozen=True)
class SiteStatistics:
    """Sums over the images of a site: how many, and of each measure the sum and the sum of squares."""

    site: str
    images: int
    sums: tuple[float, ...]  # by MEASURES
    squares: tuple[float, ...]
    labels: Mapping[str, int]  # images of each class; classes with few are left out
    hashes: tuple[str, ...] = field(default=(), repr=False)  # of the files, salted; only where the site agreed
    salted: str = ""  # a hash of the salt: hashes under different salts cannot be compared


def statistics_of(site: str, files: Sequence[CheckedFile], salt: str | None = None) -> SiteStatistics:
    """What a site may tell. With a salt that all sites share, also a hash of every file (HMAC-SHA-256)."""
    rows = [measures(file) for file in files]
    counts = Counter(file.label for file in files)
    hashes = () if salt is None else tuple(sorted({salted_hash(file.sha256, salt) for file in files}))
    return SiteStatistics(
        site,
        len(rows),
        tuple(sum(column) for column in zip(*rows, strict=True)) or (0.0,) * len(MEASURES),
        tuple(sum(value * value for value in column) for column in zip(*rows, strict=True)) or (0.0,) * len(MEASURES),
        {label: count for label, count in sorted(counts.items()) if count >= LEAST},
        hashes,
        "" if salt is None else salted_hash("salt", salt),
    )


def salted_hash(content: str, salt: str) -> str:
    return hmac.new(salt.encode(), content.encode(), sha256).hexdigest()[:DIGITS]


def measures(file: CheckedFile) -> tuple[float, ...]:
    """Of the pixels as they are compared, from 0 to 1; the size in doublings of the shorter side."""
    pixels = file.pixels.float() / 255  # (3, side, side)
    red, green, blue = pixels.mean((1, 2)).tolist()
    mean = (red + green + blue) / 3
    side = min(file.facts.width, file.facts.height) if file.facts else 0
    return mean, float(pixels.mean(0).std()), red - mean, blue - mean, log2(max(side, 1))


def shifts(files: Sequence[CheckedFile]) -> Iterator[str]:
    """Sites whose images differ from those of all other sites."""
    names = sorted({file.site for file in files})
    yield from compared([statistics_of(name, [file for file in files if file.site == name]) for name in names])


def compared(sites: Sequence[SiteStatistics]) -> Iterator[str]:
    """d = (mean - mean of the others) / pooled standard deviation, of each measure (Cohen 1988)."""
    for site in sites:
        others = [other for other in sites if other is not site]
        if not others or min(site.images, sum(other.images for other in others)) < FEWEST:
            continue
        for at, measure in enumerate(MEASURES):
            own, rest = moments([site], at), moments(others, at)
            spread = sqrt((own[1] + rest[1]) / 2)
            d = (own[0] - rest[0]) / spread if spread > 1e-9 else 0.0
            if abs(d) >= FAR:
                word = WORDS[measure][d > 0]
                apart = f"{abs(d):.1f} standard deviations"
                yield f"images of {site.site} are {word} than those of the other sites ({apart})"


def moments(sites: Sequence[SiteStatistics], at: int) -> tuple[float, float]:
    """Mean and variance over all images."""
    n = sum(site.images for site in sites)
    mean = sum(site.sums[at] for site in sites) / n
    return mean, max(sum(site.squares[at] for site in sites) / n - mean * mean, 0.0)


def shared_images(sites: Sequence[SiteStatistics]) -> Iterator[str]:
    """Pairs of sites that hold the same files, where both sent hashes under one salt."""
    for place, one in enumerate(sites):
        for two in sites[place + 1 :]:
            common = set(one.hashes) & set(two.hashes) if one.salted == two.salted else set()
            if common:
                yield f"{plural(len(common), 'image')} at {one.site} and at {two.site}"
