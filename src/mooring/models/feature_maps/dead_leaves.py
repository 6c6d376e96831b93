"""Images of opaque shapes that lie on each other: edges and plain areas of all sizes, as photographs have them."""

from math import pi

import torch
from torch import Generator, Tensor

LEAVES = 120  # on one image; the last ones cover most of the first
SMALLEST, LARGEST = 0.03, 0.5  # radius, of a side
CHROMA = 0.35  # how far the colours of a leaf spread around its grey
EDGE = 1.5  # pixels over which a leaf ends


def dead_leaves(count: int, channels: int, side: int, rng: Generator) -> Tensor:
    """(count, channels, side, side) in [0, 1]: discs and boxes of density r^-3, turned and stretched, of any colour.

    The dead leaves model (Matheron 1968; Lee, Mumford and Huang 2001), whose statistics are close to those of
    photographs, at any scale.
    """

    def uniform(*size: int) -> Tensor:
        return torch.rand(*size, generator=rng)

    at = torch.arange(side) + 0.5
    images = uniform(count, channels, 1, 1).expand(-1, -1, side, side).clone()
    for _ in range(LEAVES):
        radius = side * (SMALLEST**-2 + (LARGEST**-2 - SMALLEST**-2) * uniform(count)) ** -0.5
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
