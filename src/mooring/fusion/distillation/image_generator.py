"""From noise to images."""

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.models.backbones import initialise


class ImageGenerator(nn.Module):
    """z, (B, latent) -> images (B, C, H, W) in (0, 1): two doublings, each with convolution and batch norm.

    DENSE's generator, for any size of image: the last doubling is cut to H x W.
    """

    def __init__(self, latent: int, width: int, shape: tuple[int, int, int], rng: Generator) -> None:
        super().__init__()
        channels, self.height, self.width = shape
        self.low = (-(-self.height // 4), -(-self.width // 4))
        with torch.device("meta"):  # construction must not draw from the global generator
            layers = nn.ModuleDict(
                {
                    "start": nn.Linear(latent, 2 * width * self.low[0] * self.low[1]),
                    "norm0": nn.BatchNorm2d(2 * width, track_running_stats=False),
                    "conv1": nn.Conv2d(2 * width, 2 * width, 3, 1, 1),
                    "norm1": nn.BatchNorm2d(2 * width, track_running_stats=False),
                    "conv2": nn.Conv2d(2 * width, width, 3, 1, 1),
                    "norm2": nn.BatchNorm2d(width, track_running_stats=False),
                    "last": nn.Conv2d(width, channels, 3, 1, 1),
                }
            )
        self.layers = layers.to_empty(device="cpu")
        initialise(self.layers, rng)

    def forward(self, z: Tensor) -> Tensor:
        layers = self.layers
        x = layers["norm0"](layers["start"](z).unflatten(1, (-1, *self.low)))
        x = F.interpolate(x, scale_factor=2)
        x = F.leaky_relu(layers["norm1"](layers["conv1"](x)), 0.2)
        x = F.interpolate(x, size=(self.height, self.width))
        x = F.leaky_relu(layers["norm2"](layers["conv2"](x)), 0.2)
        images: Tensor = layers["last"](x).sigmoid()
        return images
