"""Images that a generator makes from what the clients' networks remember."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.fusion._distillation.student import LogitEnsemble
from mooring.models import Network, initialise
from mooring.schema import Checked, Count, Doc, NonNegative, Positive


def hard_cross_entropy(scores: Tensor, labels: Tensor, hardness: float) -> Tensor:
    """mean (1 - p_y)^h (-log p_y), p = softmax(scores): h = 0 is DENSE's cross entropy, h = 1 Co-Boosting's."""
    entropy = F.cross_entropy(scores, labels, reduction="none")  # -log p_y
    difficulty = (1 - (-entropy.detach()).exp()).clamp(min=0)
    return (difficulty**hardness * entropy).mean()


def boundary_divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """mean omega KL(softmax(t) || softmax(s)), omega = 1 where the two would decide differently, else 0."""
    omega = teacher.argmax(1) != student.argmax(1)
    divergence = F.kl_div(student.log_softmax(1), teacher.log_softmax(1), reduction="none", log_target=True).sum(1)
    return (omega * divergence).mean()


def statistics_gap(x: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """|mean(x) - m| + |var(x) - v|, m and v what this layer remembers of real images."""
    assert norm.running_mean is not None and norm.running_var is not None
    flat = x.permute(0, 2, 3, 1).flatten(0, 2)  # (B H W, C): three times faster than x.var on CPU
    mean = flat.mean(0)
    variance = (flat - mean).square().mean(0)
    gap: Tensor = (mean - norm.running_mean).norm() + (variance - norm.running_var).norm()
    return gap


@contextmanager
def statistics_gaps(model: nn.Module) -> Iterator[list[Tensor]]:
    """While this lasts, every pass through `model` appends the gap of each of its batch norms."""
    gaps: list[Tensor] = []

    def remember(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(norm, nn.BatchNorm2d)
        gaps.append(statistics_gap(inputs[0], norm))

    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    hooks = [norm.register_forward_pre_hook(remember) for norm in norms]
    try:
        yield gaps
    finally:
        for hook in hooks:
            hook.remove()


def mean_gap(gaps: list[Tensor]) -> Tensor:
    """Over all batch norms of all clients; a teacher that has none sets no such limit."""
    return torch.stack(gaps).mean() if gaps else torch.zeros(())


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

    steps: Annotated[Count, Doc("steps of a generator per lesson")] = 30
    batch: Annotated[Count, Doc("images in each of its steps")] = 64
    lr: Annotated[Positive, Doc("its learning rate (Adam)")] = 1e-2
    statistics: Annotated[NonNegative, Doc("weight of the batch-norm statistics")] = 0.1
    divergence: Annotated[NonNegative, Doc("weight of the disagreement of teacher and student")] = 3.0
    hardness: Annotated[NonNegative, Doc("exponent of 1 - p_y, the weight of an image")] = 0.0

    def __call__(self, teacher: LogitEnsemble, student: Network, labels: Tensor, rng: Generator) -> Tensor:
        """A new generator learns to please the ensemble; images of its course, the last batch last."""
        generate = ImageGenerator(LATENT, WIDTH, student.blueprint.shape, rng).to(labels.device)
        z = torch.randn(len(labels), LATENT, generator=rng).to(labels.device).requires_grad_()
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
