"""A client's whole network (normalisation, encoder, head), and the interface of feature maps that replace it."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.models._backbones import Backbone
from mooring.models._heads import Head, PrototypeHead
from mooring.types import View

PROTOTYPES = "head.prototypes"  # their name in a network's state


class Network(nn.Module):
    """Images -> `View`; accepts uint8 and [0, 1] images, in training and in testing."""

    mean: Tensor
    std: Tensor

    def __init__(self, blueprint: "Blueprint", encoder: nn.Module, head: PrototypeHead) -> None:
        super().__init__()
        self.blueprint = blueprint
        self.encoder = encoder.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # a tenth to a fifth faster on CPU
        self.head = head
        self.register_buffer("mean", torch.tensor(blueprint.mean)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(blueprint.std)[:, None, None], persistent=False)

    @property
    def prototypes(self) -> Tensor:
        return self.head.prototypes

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> f, (B, d), not normalised."""
        normal = normalised(images, self.mean, self.std).contiguous(memory_format=torch.channels_last)
        return self.head.embed(self.encoder(normal))

    def forward(self, images: Tensor) -> View:
        return self.view(self.embed(images))

    def view(self, embedding: Tensor) -> View:
        """The output of the head for f, (B, d)."""
        unit = F.normalize(embedding)
        return View(self.head.logits(embedding, unit), unit)


@dataclass(frozen=True)
class Blueprint:
    """All that is needed to build the same network at every client and at the server."""

    backbone: Backbone
    head: Head
    shape: tuple[int, int, int]  # of one image
    classes: tuple[str, ...]  # their names, in the order of the labels
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def class_count(self) -> int:
        return len(self.classes)

    def build(self, rng: Generator) -> Network:
        encoder, features = self.backbone.build(self.shape, rng)
        head = self.head.build(features, self.class_count, rng)
        return Network(self, encoder, head)


class FeatureMap(Protocol):
    """A frozen description of phi: images -> features (B, d), the same function in every process.

    The module is in eval mode, has no gradients, and takes uint8 or [0, 1] images (B, C, H, W).
    """

    kind: ClassVar[str]

    def size(self, blueprint: Blueprint) -> int:
        """d"""
        ...

    def build(self, blueprint: Blueprint) -> nn.Module: ...

    def empty(self, blueprint: Blueprint) -> nn.Module:
        """The same module before it has its weights: a saved predictor fills them in."""
        ...


class Normalise(nn.Module):
    """(x - mean) / std with the mean and std of the blueprint."""

    mean: Tensor
    std: Tensor

    def __init__(self, blueprint: Blueprint) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(blueprint.mean)[:, None, None])
        self.register_buffer("std", torch.tensor(blueprint.std)[:, None, None])

    def forward(self, images: Tensor) -> Tensor:
        return normalised(images, self.mean, self.std)


def normalised(images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """(x - mean) / std of images in [0, 1]; bytes are divided by 255 first."""
    if images.dtype == torch.uint8:
        images = images.float() / 255
    return (images - mean) / std


class Placed(nn.Module):
    """A feature map that computes on a device, for images and results that lie elsewhere."""

    def __init__(self, phi: nn.Module, device: torch.device) -> None:
        super().__init__()
        self.phi, self.device = phi.to(device), device

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.phi(images.to(self.device))
        return features.to(images.device)


def placed_with(phi: nn.Module, network: Network) -> nn.Module:
    """The map on the device of the network."""
    device = network.prototypes.device
    return phi if device.type == "cpu" else Placed(phi, device)


def frozen(*layers: nn.Module) -> nn.Module:
    """The layers in sequence, without training."""
    return nn.Sequential(*layers).requires_grad_(False).eval()
