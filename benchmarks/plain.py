"""The network as research code writes it: torch's own memory layout, where mooring's lays the channels last."""

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.models import Blueprint
from mooring.types import View


class PlainNetwork(nn.Module):
    """The same layers and the same start as `Blueprint.build`."""

    def __init__(self, blueprint: Blueprint, rng: Generator) -> None:
        super().__init__()
        self.encoder, features = blueprint.backbone.build(blueprint.shape, rng)
        self.head = blueprint.head.build(features, blueprint.class_count, rng)
        self.mean, self.std = (torch.tensor(each)[:, None, None] for each in (blueprint.mean, blueprint.std))

    @property
    def prototypes(self) -> Tensor:
        return self.head.prototypes

    def forward(self, images: Tensor) -> View:
        embedding = self.head.embed(self.encoder((images - self.mean) / self.std))
        unit = F.normalize(embedding)
        return View(self.head.logits(embedding, unit), unit)
