"""Batched augmentation with one random draw per image and an explicit generator.

The published pipeline (resized crop, flip, colour jitter, grey) as two batched operations: one affine resampling and
one affine map of the colours. Deviations: jitter acts in a fixed order, and hue turns the chroma plane (YIQ) instead
of the HSV wheel; both keep the published ranges. Written by hand because libraries draw from the global generator.
"""

from dataclasses import dataclass
from math import log, pi
from typing import Annotated

import torch
import torch.nn.functional as F
from annotated_types import Ge, Gt, Le
from torch import Generator, Tensor

from mooring.schema import Checked, Doc, Fraction, NonNegative

LUMA = (0.299, 0.587, 0.114)
YIQ = torch.tensor([LUMA, (0.596, -0.274, -0.322), (0.211, -0.523, 0.312)])
RGB = torch.linalg.inv(YIQ)
ASPECT = 4 / 3  # of a crop: between 3/4 and 4/3


@dataclass(frozen=True)
class Augment(Checked):
    """How far a view may be from its image; all zero (and `crop` 1) is the image itself."""

    crop: Annotated[float, Gt(0), Le(1), Doc("smallest share of the area that a crop keeps")] = 0.2
    flip: Annotated[Fraction, Doc("probability of mirroring, if mirrored images keep their class")] = 0.5
    jitter: Annotated[Fraction, Doc("probability of the colour jitter")] = 0.8
    brightness: Annotated[NonNegative, Doc("range of the jitter in brightness")] = 0.4
    contrast: Annotated[NonNegative, Doc("range of the jitter in contrast")] = 0.4
    saturation: Annotated[NonNegative, Doc("range of the jitter in saturation")] = 0.4
    hue: Annotated[float, Ge(0), Le(0.5), Doc("range of the jitter in hue (1 is the colour circle)")] = 0.1
    grey: Annotated[Fraction, Doc("probability of a grey view")] = 0.2

    def __call__(self, images: Tensor, mirror: bool, rng: Generator) -> Tensor:
        """uint8 (B, C, H, W) -> float (B, C, H, W) in [0, 1], each image with its own draw."""
        views = images.float() / 255
        if self.crop < 1 or self.flip * mirror > 0:
            views = self._crop(views, mirror, rng)
        if self.jitter > 0 or self.grey > 0:
            views = self._colour(views, rng)
        return views

    def _crop(self, images: Tensor, mirror: bool, rng: Generator) -> Tensor:
        """A random box of `crop`..1 of the area, resampled to full size, mirrored with probability `flip`."""
        count = len(images)
        area, ratio, left, top, turn = torch.rand(5, count, generator=rng).to(images.device)
        area = self.crop + (1 - self.crop) * area
        most = (-area.log()).clamp(max=log(ASPECT))  # a box of nearly the whole area must be nearly square to fit
        stretch = torch.exp((ratio - 0.5) * most)
        width, height = area.sqrt() * stretch, area.sqrt() / stretch  # relative to the image
        theta = images.new_zeros(count, 2, 3)
        theta[:, 0, 0] = torch.where(turn < self.flip * mirror, -width, width)
        theta[:, 1, 1] = height
        theta[:, 0, 2] = (2 * left - 1) * (1 - width)
        theta[:, 1, 2] = (2 * top - 1) * (1 - height)
        grid = F.affine_grid(theta, list(images.shape), align_corners=False)
        return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)

    def _colour(self, images: Tensor, rng: Generator) -> Tensor:
        """x -> clamp(contrast * brightness * (M x - mean) + brightness * mean), M saturation, hue and grey in YIQ."""
        count, channels = images.shape[:2]
        draws = torch.rand(6, count, generator=rng).to(images.device)
        brightness, contrast, saturation, hue, jittered, grey = draws
        on = jittered < self.jitter

        def around_one(draw: Tensor, spread: float) -> Tensor:
            return torch.where(on, (1 + spread * (2 * draw - 1)).clamp(min=0), images.new_ones(()))

        brighter = around_one(brightness, self.brightness)[:, None, None, None]
        steeper = around_one(contrast, self.contrast)[:, None, None, None]
        if channels == 3:
            colourful = around_one(saturation, self.saturation) * (grey >= self.grey)
            angle = torch.where(on, 2 * pi * self.hue * (2 * hue - 1), images.new_zeros(()))
            images = self._turn(images, colourful, angle)
        luma = (
            images.mean(1, keepdim=True)
            if channels != 3
            else images.mul(images.new_tensor(LUMA)[:, None, None]).sum(1, keepdim=True)
        )
        mean = luma.mean((2, 3), keepdim=True)
        return (brighter * (steeper * (images - mean) + mean)).clamp_(0, 1)

    @staticmethod
    def _turn(images: Tensor, colourful: Tensor, angle: Tensor) -> Tensor:
        """Scale the chroma by `colourful` and turn it by `angle`, the luma kept."""
        count, _, height, width = images.shape
        turn = images.new_zeros(count, 3, 3)
        turn[:, 0, 0] = 1
        turn[:, 1, 1] = turn[:, 2, 2] = colourful * angle.cos()
        turn[:, 1, 2] = -colourful * angle.sin()
        turn[:, 2, 1] = colourful * angle.sin()
        to_rgb, to_yiq = RGB.to(images.device), YIQ.to(images.device)
        turned: Tensor = (to_rgb @ turn @ to_yiq).bmm(images.flatten(2))
        return turned.view(count, 3, height, width)
