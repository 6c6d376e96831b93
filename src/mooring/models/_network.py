"""A client's whole network: one normalisation, the encoder, the head."""

from dataclasses import dataclass

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
        if images.dtype == torch.uint8:
            images = images.float() / 255
        normalised = ((images - self.mean) / self.std).contiguous(memory_format=torch.channels_last)
        return self.head.embed(self.encoder(normalised))

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
        encoder, features = self.backbone.build(self.shape[0], rng)
        head = self.head.build(features, self.class_count, rng)
        return Network(self, encoder, head)
