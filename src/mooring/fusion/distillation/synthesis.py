"""Images that a generator makes up, because the clients' networks remember what they have seen."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.bounds import Checked
from mooring.fusion.distillation.logit_ensemble import LogitEnsemble
from mooring.fusion.distillation.losses import boundary_divergence, hard_cross_entropy, mean_gap, statistics_gaps
from mooring.models.backbones import initialise
from mooring.models.network import Network
from mooring.types import Count, NonNegative, Positive


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


LATENT, WIDTH = 64, 16
BETAS = (0.5, 0.999)  # of Adam, as generators are trained
EVERY = 5  # steps between two batches that are kept for the student


@dataclass(frozen=True)
class Synthesis(Checked):
    """x = G(z), where G and z minimise for wanted labels y (Zhang et al. 2022)

    (1 - p_y)^hardness CE(t(x), y) + statistics * BN(x) - divergence * [argmax t != argmax s] KL(t(x) || s(x))

    t the ensemble, p its soft-max, s the student; BN compares what every batch norm of every client sees with what it
    remembers of real images. Deviations: BN is a mean over all layers, z is learned too, and images of the whole course
    are kept.
    """

    steps: Count = 30
    batch: Count = 64
    lr: Positive = 1e-2
    statistics: NonNegative = 0.1
    divergence: NonNegative = 3.0
    hardness: NonNegative = 0.0  # 0 is DENSE's cross entropy, 1 Co-Boosting's

    def __call__(self, teacher: LogitEnsemble, student: Network, labels: Tensor, rng: Generator) -> Tensor:
        """A new generator learns to please the ensemble; images of its course, the last batch last."""
        generate = ImageGenerator(LATENT, WIDTH, student.blueprint.shape, rng)
        z = torch.randn(len(labels), LATENT, generator=rng).requires_grad_()
        optimizer = torch.optim.Adam([*generate.parameters(), z], self.lr, BETAS)
        student.eval().requires_grad_(False)
        kept = []
        for step in range(self.steps):
            with statistics_gaps(teacher) as gaps:
                images = generate(z)
                scores = teacher(images)
            loss = hard_cross_entropy(scores, labels, self.hardness) + self.statistics * mean_gap(gaps)
            loss = loss - self.divergence * boundary_divergence(scores, student(images).logits)
            if step % EVERY == 0 or step == self.steps - 1:
                kept.append(images.detach())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        student.requires_grad_(True)
        return torch.cat(kept)
