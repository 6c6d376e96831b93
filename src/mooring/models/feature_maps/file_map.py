"""What encoders in somebody's file share: the file is part of what is built, and run by onnxruntime."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import torch
from torch import nn

from mooring.bounds import Checked
from mooring.models.encoders.onnx_file import feature_count
from mooring.models.encoders.preparation import EncoderViews, Normalisation
from mooring.models.encoders.session import OnnxFeatures, SessionPlan, StoredFile
from mooring.models.feature_maps.base import frozen
from mooring.models.feature_maps.content import WHERE, content_of, length_of, named_content
from mooring.models.feature_maps.encoder import Side
from mooring.models.network import Blueprint
from mooring.trees import CONTENT
from mooring.types import FilePath

NATIVE = 224  # pixels a side, where a file does not say


@dataclass(frozen=True)
class FileMap(Checked, ABC):
    """phi(x): maps of the encoder in the file `path`, averaged, side by side."""

    kind: ClassVar[str]
    path: FilePath = field(metadata={CONTENT: named_content})
    pixels: Side | None = None  # None: as the file says, else 96 for images up to 40 pixels a side, else 224
    layers: tuple[str, ...] = ()
    normalise: Normalisation = "imagenet"
    views: EncoderViews = "one"

    @abstractmethod
    def side(self, shape: tuple[int, int, int]) -> int:
        """Pixels a side of what the encoder gets."""

    @abstractmethod
    def plan(self, data: bytes, blueprint: Blueprint) -> SessionPlan:
        """What onnxruntime does with the content of the file."""

    def size(self, blueprint: Blueprint) -> int:
        return feature_count(self.plan(content_of(self.path), blueprint), WHERE)

    def build(self, blueprint: Blueprint) -> nn.Module:
        self.size(blueprint)  # rejects files that are not encoders
        file = torch.frombuffer(bytearray(content_of(self.path)), dtype=torch.uint8)
        return self._module(file, blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self._module(torch.zeros(length_of(self.path), dtype=torch.uint8), blueprint)

    def _module(self, file: torch.Tensor, blueprint: Blueprint) -> nn.Module:
        return frozen(OnnxFeatures(StoredFile(file), partial(self.plan, blueprint=blueprint), WHERE))
