"""Near-copies of images: the same picture rotated, mirrored, cropped, brighter, noisy or compressed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import pi, tanh
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data._image_tree import ImageFile, with_progress
from mooring.data._pixels import decode_image, require_decoders
from mooring.seeds import generator

SIDE = 48  # pixels a side of what is compared
RADII, ANGLES, WAVES = 14, 64, 12
SIZE = 64  # numbers of a descriptor
HIGH = 0.9  # a quantile of random pairs of one class
SAMPLE, FEWEST = 400, 30  # such pairs, and how many there must be
CERTAIN = 0.985  # and no set is asked for more than this
PROMISING = 0.45  # correlation before the alignment is refined, below which two images are not looked at further
FLAT = 4.0  # of 255: details that vary less say nothing
BLUR = 9  # pixels: what is coarser is no detail
BLOCK = 1024
SHIFTS, SCALES = (-0.12, 0.0, 0.12), (0.85, 1.0)
STEPS = (0.06, 0.03)  # of the alignment, in half sides


@dataclass(frozen=True)
class Likeness:
    """How alike two images must be to count as copies of each other."""

    correlation: float  # of details after alignment, at least
    far: float  # above the median of random pairs of one class, in distances of the quantile HIGH from it
    candidates: int  # neighbours of an image that are aligned with it


SURE = Likeness(0.8, 5.0, 3)  # what a finding names
PROBABLE = Likeness(
    0.7, 4.0, 6
)  # what a grouped split keeps together: a copy that is missed costs more than two strangers


@dataclass(frozen=True)
class Copy:
    """Two images by their positions, the later one first, and the correlation of their details."""

    image: int
    of: int
    alike: float


Watch = Callable[[int, int], None]  # how many comparisons of how many are done


def near_copies(
    images: Iterable[Tensor], labels: Tensor, watch: Watch = lambda done, of: None, likeness: Likeness = SURE
) -> list[Copy]:
    """All images whose details match another's after rotation, reflection, a shift and a change of scale.

    `images` in batches of (B, C, H, W), uint8; `labels` (N,). Each image has a descriptor that neither rotations nor
    reflections change: the magnitudes of the Fourier series around circles about its centre, whitened over all images.
    The nearest neighbours, over a grid of shifts and scales, are aligned and their details correlated: pixels minus
    their surroundings, so that a common background or brightness does not count. Images without details are never
    copies of each other here.

    Two images are copies if this correlation is at least that of `likeness`, and in Fisher's z far above that of
    random pairs of one class (`threshold`): different trousers look more alike than different dogs.
    """
    small = reduced(images)
    details = sharpened(small)
    rich = details.flatten(1).std(1) > FLAT
    place = rich.nonzero().flatten()
    if len(place) < 2:
        return []
    neighbours = nearest(
        small[place], likeness.candidates, watch
    )  # (n, candidates): position, and the view that matched
    pairs: dict[tuple[int, int], float] = {}
    details = details[place]
    least = threshold(details, labels[place], likeness)
    for rank in range(neighbours.shape[1]):
        other, view = neighbours[:, rank, 0], neighbours[:, rank, 1]
        for begin in range(0, len(place), BLOCK):
            own = torch.arange(begin, min(begin + BLOCK, len(place)))
            alike = aligned(details[own], details[other[own]], VIEWS[view[own]])
            for i in (alike >= least).nonzero().flatten().tolist():
                a, b = int(place[own[i]]), int(place[other[own[i]]])
                key = (max(a, b), min(a, b))
                pairs[key] = max(pairs.get(key, 0.0), float(alike[i]))
    return [Copy(a, b, alike) for (a, b), alike in sorted(pairs.items())]


def threshold(details: Tensor, labels: Tensor, likeness: Likeness) -> float:
    """The correlation from which two images of this set are copies."""
    rng = generator(0, "similarity")
    one, other = torch.randint(len(labels), (2, 50 * SAMPLE), generator=rng)
    different = one != other
    same = different & (labels[one] == labels[other])
    chosen = (same if int(same.sum()) >= FEWEST else different).nonzero().flatten()[:SAMPLE]
    plain = torch.tensor(PLAIN).expand(len(chosen), 3)
    alike = aligned(details[one[chosen]], details[other[chosen]], plain)
    middle, high = torch.atanh(alike.clamp(max=1 - 1e-6)).quantile(torch.tensor([0.5, HIGH])).tolist()
    return min(
        max(likeness.correlation, tanh(middle + likeness.far * (high - middle))), CERTAIN
    )  # by quantiles: some of these pairs are copies


PLAIN = (0.0, 0.0, 1.0)  # no shift, full size
VIEWS = torch.tensor([(x, y, scale) for scale, x, y in product(SCALES, SHIFTS, SHIFTS)])


def reduced(images: Iterable[Tensor]) -> Tensor:
    """Grey, (N, 1, SIDE, SIDE), float"""
    grey = (part.float().mean(1, keepdim=True) for part in images)
    return torch.cat([F.interpolate(part, (SIDE, SIDE), mode="bilinear", antialias=True) for part in grey])


def sharpened(images: Tensor) -> Tensor:
    """Pixels minus the mean of their surroundings, (N, 1, H, W)"""
    return images - F.avg_pool2d(F.pad(images, (BLUR // 2,) * 4, mode="reflect"), BLUR, 1)


def on_circles(images: Tensor, views: Tensor) -> Tensor:
    """Values around circles about a shifted centre, (N, C, radii, angles); `views` (N, 3): shift and scale."""
    radius = (torch.arange(RADII) + 0.5) / RADII
    angle = torch.arange(ANGLES) * (2 * pi / ANGLES)
    circle = torch.stack([radius[:, None] * angle.cos(), radius[:, None] * angle.sin()], -1)  # (radii, angles, 2)
    grid = views[:, None, None, 2:] * circle + views[:, None, None, :2]
    return F.grid_sample(images, grid, align_corners=False, padding_mode="reflection")


def descriptor(images: Tensor, view: Tensor) -> Tensor:
    """|Fourier series around each circle|, of values in units of their spread, (N, radii waves)"""
    circles = on_circles(images, view.expand(len(images), 3))
    circles = circles - circles.mean((2, 3), keepdim=True)
    circles = circles / circles.std((1, 2, 3), keepdim=True).clamp(min=1.0)
    waves: Tensor = torch.fft.rfft(circles, dim=3).abs()
    return waves[..., :WAVES].flatten(1)


def nearest(images: Tensor, candidates: int, watch: Watch) -> Tensor:
    """The most similar other images by descriptor, and the view of the first that matches, (n, candidates, 2)"""
    n, plain = len(images), torch.tensor(PLAIN)
    plain_descriptors = torch.cat([descriptor(part, plain) for part in images.split(BLOCK)])
    whiten = whitening(plain_descriptors)
    known = whiten(plain_descriptors)
    found = torch.empty(n, min(candidates, n - 1), 2, dtype=torch.int64)
    for begin in range(0, n, BLOCK):
        watch(begin, n)
        part = images[begin : begin + BLOCK]
        best, which = torch.full((len(part), n), -2.0), torch.zeros(len(part), n, dtype=torch.uint8)
        for number, view in enumerate(VIEWS):
            alike = whiten(descriptor(part, view)) @ known.T
            better = alike > best
            best[better], which[better] = alike[better], number
        own = torch.arange(len(part))
        best[own, begin + own] = -2.0
        chosen = best.topk(found.shape[1], 1).indices
        found[begin : begin + BLOCK, :, 0] = chosen
        found[begin : begin + BLOCK, :, 1] = which.gather(1, chosen).long()
    return found


def whitening(values: Tensor) -> Callable[[Tensor], Tensor]:
    """x -> z / |z|,  z the SIZE largest principal components of x, each of variance one"""
    mean, spread = values.mean(0), values.std(0).clamp(min=1e-6)
    z = ((values - mean) / spread).double()
    variance, axes = torch.linalg.eigh(z.T @ z / len(z))
    kept = variance > 1e-6 * variance[-1]
    kept[: -min(SIZE, max(4, len(values) // 4))] = False
    project = (axes[:, kept] / variance[kept].sqrt()).float()
    return lambda x: F.normalize(((x - mean) / spread) @ project, dim=1)


def aligned(images: Tensor, others: Tensor, views: Tensor) -> Tensor:
    """The best correlation over rotations and reflections, and over shifts and scales near `views`, (n,)"""
    plain = torch.fft.rfft(normalised(on_circles(others, torch.tensor(PLAIN).expand(len(others), 3))))
    best = over_rotations(images, views, plain)
    close = (best >= PROMISING).nonzero().flatten()
    if len(close):
        best[close] = refined(images[close], plain[close], views[close], best[close])
    return best


def refined(images: Tensor, plain: Tensor, views: Tensor, best: Tensor) -> Tensor:
    """The correlation after small steps of shift and scale, as long as they raise it."""
    for step in STEPS:
        for axis, sign in product(range(3), (-1, 1)):
            tried = views.clone()
            tried[:, axis] += sign * step
            alike = over_rotations(images, tried, plain)
            better = alike > best
            views = torch.where(better[:, None], tried, views)
            best = torch.maximum(alike, best)
    return best


def over_rotations(images: Tensor, views: Tensor, others: Tensor) -> Tensor:
    """max over angles of sum_r <f(r, .), g(r, . + angle)>, f = the image or its reflection, by Fourier series"""
    own = torch.fft.rfft(normalised(on_circles(images, views)))
    turned: Tensor = torch.fft.irfft((own * others.conj()).sum((1, 2)), n=ANGLES).amax(1)
    mirrored: Tensor = torch.fft.irfft((own * others).sum((1, 2)), n=ANGLES).amax(1)
    return torch.maximum(turned, mirrored)


def normalised(circles: Tensor) -> Tensor:
    """Every circle weighted by its length; mean 0, norm 1"""
    weighted = (circles - circles.mean((2, 3), keepdim=True)) * (torch.arange(RADII) + 0.5).sqrt()[:, None]
    return weighted / weighted.square().sum((1, 2, 3), keepdim=True).sqrt().clamp(min=1e-6)


def joined(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The first member of the group of every position, where paired positions are in one group."""
    first = list(range(count))

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    for a, b in pairs:
        one, other = sorted((root(a), root(b)))
        first[other] = one
    return [root(i) for i in range(count)]


def group_copies(files: Sequence[ImageFile], root: Path) -> list[ImageFile]:
    """Every file with its group: near-copies are in one, and so are files that had one group before.

    The group has the name of its first file, so that files without copies are divided as they would be by name.
    """
    labels = [file.label for file in files]
    state = tuple((file.path, file.path.stat().st_mtime_ns) for file in files)
    pairs = [(copy.image, copy.of) for copy in copies_among(state, tuple(labels))]
    first: dict[str, int] = {}
    for position, file in enumerate(files):
        if file.group is not None:
            pairs.append((position, first.setdefault(file.group, position)))
    names = [file.path.relative_to(root).as_posix() for file in files]
    return [replace(file, group=names[own]) for file, own in zip(files, joined(len(files), pairs), strict=True)]


@lru_cache(maxsize=1)  # a run asks twice: for its training images and for its test images
def copies_among(state: tuple[tuple[Path, int], ...], labels: tuple[str, ...]) -> list[Copy]:
    """Probable copies among files, by position; `state` has every file and when it was changed."""
    paths = [path for path, _ in state]
    require_decoders(paths)
    images = torch.zeros(len(paths), 3, SIDE, SIDE, dtype=torch.uint8)
    for position, path in enumerate(with_progress(paths)):
        try:
            images[position] = torch.from_numpy(decode_image(path, SIDE, 3).copy())
        except Exception:  # a broken file makes a decoder raise almost anything; it is reported when it is read
            continue
    numbers = {label: number for number, label in enumerate(sorted(set(labels)))}
    return near_copies(images.split(1024), torch.tensor([numbers[label] for label in labels]), likeness=PROBABLE)
