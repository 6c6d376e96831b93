"""Synthetic images, and a reduction of features that is computed on them, without training data."""

from functools import lru_cache
from math import ceil, pi

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mooring.models._network import Blueprint, FeatureMap
from mooring.seeds import generator

Shape = tuple[int, int, int]
EACH = 8  # images of each simple kind
DISCS = 80  # of one image of `dead_leaf_discs`
SMALLEST_DISC, LARGEST_DISC = 0.06, 0.6  # radius, as a share of the side of the image
LEAVES = 120  # of one image of `dead_leaves`; the last ones cover most of the first
SMALLEST_LEAF, LARGEST_LEAF = 0.03, 0.5  # radius, as a share of the side
CHROMA = 0.35  # how far the colours of a leaf spread around its grey
EDGE = 1.5  # pixels over which a leaf fades out
IMAGES = 1024  # images of discs that a reduction is computed on
BATCH = 128
LEAST = 1e-6  # of the largest variance, added to all


def simple_images(shape: Shape) -> Tensor:
    """Flat, striped, and noise of four sizes: (N, C, H, W), uint8."""
    channels, height, width = shape
    rng = generator(0, "probes")
    flat = torch.linspace(0, 1, EACH).view(-1, 1, 1, 1).expand(EACH, *shape)
    stripes = [
        ((torch.arange(length).view(side) // step) % 2).expand(1, *shape).float()
        for length, side in ((height, (-1, 1)), (width, (1, -1)))
        for step in (1, 2, 4)
    ]
    noise = [
        F.interpolate(torch.rand(EACH, channels, size, size, generator=rng), (height, width), mode="nearest")
        for size in (2, 4, 8)
    ]
    fine = torch.rand(EACH, *shape, generator=rng)
    return (255 * torch.cat([flat, *stripes, *noise, fine])).round().to(torch.uint8)


def dead_leaf_discs(shape: Shape, count: int) -> Tensor:
    """Discs that cover each other, radius r with density r^-3; their second-order statistics match photographs.

    (count, C, H, W), uint8; Matheron 1968, Lee, Mumford and Huang 2001. A simpler model than `dead_leaves`.
    """
    channels, height, width = shape
    rng = generator(0, "dead-leaves")
    rows, columns = torch.arange(height).view(1, height, 1), torch.arange(width).view(1, 1, width)
    images = torch.rand(count, channels, 1, 1, generator=rng).expand(count, *shape)
    small, large = SMALLEST_DISC * max(height, width), LARGEST_DISC * max(height, width)
    for _ in range(DISCS):
        u, y, x = torch.rand(3, count, 1, 1, generator=rng)
        radius = (small**-2 - (small**-2 - large**-2) * u).rsqrt()
        inside = (rows - y * height).square() + (columns - x * width).square() < radius.square()  # (count, H, W)
        images = torch.where(inside[:, None], torch.rand(count, channels, 1, 1, generator=rng), images)
    return (255 * images).round().to(torch.uint8)


def dead_leaves(count: int, channels: int, side: int, rng: Generator) -> Tensor:
    """(count, channels, side, side) in [0, 1]: discs and boxes of density r^-3, turned and stretched, of any colour.

    The dead leaves model (Matheron 1968; Lee, Mumford and Huang 2001), whose statistics are close to
    photographs at any scale.
    """

    def uniform(*size: int) -> Tensor:
        return torch.rand(*size, generator=rng)

    at = torch.arange(side) + 0.5
    images = uniform(count, channels, 1, 1).expand(-1, -1, side, side).clone()
    for _ in range(LEAVES):
        radius = side * (SMALLEST_LEAF**-2 + (LARGEST_LEAF**-2 - SMALLEST_LEAF**-2) * uniform(count)) ** -0.5
        x, y = (side * (1.4 * uniform(count, 1, 1) - 0.2) for _ in range(2))
        angle, stretch = pi * uniform(count, 1, 1), (0.5 + 1.5 * uniform(count, 1, 1)).sqrt()
        along = ((at - x) * angle.cos() + (at[:, None] - y) * angle.sin()) / stretch
        across = ((at[:, None] - y) * angle.cos() - (at - x) * angle.sin()) * stretch
        box = uniform(count, 1, 1) < 0.5
        distance = torch.where(box, torch.maximum(along.abs(), across.abs()), torch.hypot(along, across))
        cover = ((radius[:, None, None] - distance) / EDGE + 0.5).clamp(0, 1)[:, None]
        tint = CHROMA * (uniform(count, channels) - 0.5) * (channels > 1)
        colour = (uniform(count, 1) + tint).clamp(0, 1)[:, :, None, None]
        images += cover * (colour - images)
    return images


def feature_reduction(feature_map: FeatureMap, blueprint: Blueprint, size: int) -> tuple[Tensor, Tensor]:
    """Centre m (d,) and projection P (d, size): (x - m) P are uncorrelated, of variance 1, over dead leaves.

    Its directions are those of T G, T the correlations of features and G random: mostly those in which images vary
    much. Every step is continuous, so machines that round differently agree on P up to the last digits; with
    eigenvectors they would not. No training data is used.
    """
    return _computed(feature_map, blueprint, size)  # type: ignore[arg-type]  # maps are frozen


@lru_cache(maxsize=4)  # a server asks for it for every predictor, and a simulation for every client
def _computed(feature_map: FeatureMap, blueprint: Blueprint, size: int) -> tuple[Tensor, Tensor]:
    phi = feature_map.build(blueprint)
    leaves = dead_leaf_discs(blueprint.shape, IMAGES).chunk(ceil(IMAGES / BATCH))
    x = torch.cat([phi(images) for images in leaves]).double()
    centre = x.mean(0)
    spread = (x - centre).square().mean(0).sqrt()
    spread = spread + LEAST * spread.amax()
    z = (x - centre) / spread
    correlation = z.T @ z / len(z)
    noise = torch.randn(len(centre), size, generator=generator(0, "reduction"), dtype=torch.float64)
    directions = correlation @ noise
    gram = directions.T @ correlation @ directions
    gram = gram + LEAST * gram.diagonal().amax() * torch.eye(size, dtype=gram.dtype)
    whitened = torch.linalg.solve_triangular(torch.linalg.cholesky(gram), directions.T, upper=False).T
    return centre, whitened / spread[:, None]


def reduce_features(x: Tensor, centre: Tensor, projection: Tensor) -> Tensor:
    """u = z / |z|, z = (x - m) P: (B, d) -> (B, size), every vector of length 1."""
    z = (x.double() - centre) @ projection
    unit: Tensor = z / z.norm(dim=1, keepdim=True).clamp(min=torch.finfo(z.dtype).tiny)
    return unit
