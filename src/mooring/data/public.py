"""Public images: taken away from the clients before partitioning, or from a source of their own."""

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data.augment import LUMA
from mooring.data.images import ImageSet


def fitted(images: ImageSet, shape: tuple[int, int, int]) -> ImageSet:
    """Images of another source in the shape that the clients' network takes."""
    channels, height, width = shape
    pixels = images.images.float()
    if pixels.shape[1] == 3 and channels == 1:
        pixels = (pixels * torch.tensor(LUMA)[:, None, None]).sum(1, keepdim=True)
    elif pixels.shape[1] == 1 and channels == 3:
        pixels = pixels.expand(-1, 3, -1, -1)
    if pixels.shape[2:] != (height, width):
        pixels = resized(pixels, height, width)
    return ImageSet(pixels.round().clamp(0, 255).to(torch.uint8).contiguous(), images.labels, images.classes)


def resized(pixels: Tensor, height: int, width: int) -> Tensor:
    return F.interpolate(pixels, (height, width), mode="bilinear", antialias=True, align_corners=False)
