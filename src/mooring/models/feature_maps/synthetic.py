"""Images that nobody took: what a feature map does can be seen on them before anybody's data is."""

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.seeds import generator

Shape = tuple[int, int, int]
EACH = 8  # images of each simple kind
DISCS = 80  # of one picture of leaves
SMALLEST, LARGEST = 0.06, 0.6  # radius of a disc, in sides of the image


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


def dead_leaves(shape: Shape, count: int) -> Tensor:
    """Discs that cover each other, radius r with density r^-3: the second-order statistics of photographs.

    (count, C, H, W), uint8; Matheron 1968, Lee, Mumford and Huang 2001.
    """
    channels, height, width = shape
    rng = generator(0, "dead-leaves")
    rows, columns = torch.arange(height).view(1, height, 1), torch.arange(width).view(1, 1, width)
    images = torch.rand(count, channels, 1, 1, generator=rng).expand(count, *shape)
    small, large = SMALLEST * max(height, width), LARGEST * max(height, width)
    for _ in range(DISCS):
        u, y, x = torch.rand(3, count, 1, 1, generator=rng)
        radius = (small**-2 - (small**-2 - large**-2) * u).rsqrt()
        inside = (rows - y * height).square() + (columns - x * width).square() < radius.square()  # (count, H, W)
        images = torch.where(inside[:, None], torch.rand(count, channels, 1, 1, generator=rng), images)
    return (255 * images).round().to(torch.uint8)
