"""Resizes and normalises images for an encoder."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

EncoderViews = Literal["one", "mirrored"]
VIEWS: dict[EncoderViews, Callable[[Tensor], list[Tensor]]] = {  # of one image, whose features are averaged
    "one": lambda images: [images],
    "mirrored": lambda images: [images, images.flip(3)],
}
Normalisation = Literal["imagenet", "centred", "none"]
NORMALISATIONS: dict[Normalisation, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "centred": ((127 / 255,), (128 / 255,)),
    "none": ((0.0,), (1.0,)),
}
SMALL, ENLARGED = 40, 96  # images up to 40 pixels a side are enlarged to 96, all others brought to the encoder's size


def usual_pixels(shape: tuple[int, int, int], native: int, enlarged: int = ENLARGED) -> int:
    """The side in pixels to which images are resized by default."""
    return enlarged if max(shape[1:]) <= SMALL else native


@dataclass(frozen=True)
class Preparation:
    """x -> (resized(x) - mean) / std, with `channels` colours; resizing is bilinear, and smooths where it shrinks."""

    pixels: int
    normalise: Normalisation
    channels: int = 3

    def __call__(self, images: Tensor) -> Tensor:
        """(B, C, H, W), uint8 or [0, 1] -> (B, channels, pixels, pixels)"""
        if images.dtype == torch.uint8:
            images = images.float() / 255
        if images.shape[1] != self.channels:
            images = images.mean(1, keepdim=True).expand(-1, self.channels, -1, -1)  # grey
        if images.shape[2:] != (self.pixels, self.pixels):
            images = F.interpolate(images, (self.pixels, self.pixels), mode="bilinear", antialias=True)
        mean, std = (torch.tensor(values)[:, None, None] for values in NORMALISATIONS[self.normalise])
        return (images - mean) / std
