"""A ResNet as torchvision or timm name it, in a safetensors file."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import torch
from torch import nn

from mooring.bounds import Checked
from mooring.models.encoders.layers import known, parsed
from mooring.models.encoders.onnx_file import anatomy_of, measured
from mooring.models.encoders.preparation import Normalisation, Preparation, Views, usual_pixels
from mooring.models.encoders.resnet import resnet_graph
from mooring.models.encoders.session import OnnxFeatures, Plan, StoredFile
from mooring.models.feature_maps.base import frozen
from mooring.models.feature_maps.content import WHERE, content_of, length_of, named_content
from mooring.models.feature_maps.encoder import Side
from mooring.models.network import Blueprint
from mooring.trees import CONTENT
from mooring.types import FilePath

NATIVE = 224


@dataclass(frozen=True)
class ResNetFile(Checked):
    """phi(x): averages of the maps of a ResNet whose tensors are in the safetensors file `path`, side by side.

    Tensors are named as torchvision and timm name them (`conv1.weight`, `layer1.0.bn1.running_var`, ...); depth and
    width are those of the file. A layer is `layer1` to `layer4`, with @2 averaged over four quarters of the map.
    """

    kind: ClassVar[str] = "resnet-file"
    path: FilePath = field(metadata={CONTENT: named_content})
    pixels: Side | None = None  # None: 96 for images up to 40 pixels a side, else 224
    layers: tuple[str, ...] = ("layer2@2", "layer3@2", "layer4")
    normalise: Normalisation = "imagenet"
    views: Views = "one"

    def size(self, blueprint: Blueprint) -> int:
        return measured(self._plan(content_of(self.path), blueprint), WHERE)

    def build(self, blueprint: Blueprint) -> nn.Module:
        self.size(blueprint)  # refuses what is no encoder
        file = torch.frombuffer(bytearray(content_of(self.path)), dtype=torch.uint8)
        return self._module(file, blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self._module(torch.zeros(length_of(self.path), dtype=torch.uint8), blueprint)

    def side(self, shape: tuple[int, int, int]) -> int:
        """Pixels a side of what the encoder gets."""
        return self.pixels or usual_pixels(shape, NATIVE)

    def _module(self, file: torch.Tensor, blueprint: Blueprint) -> nn.Module:
        return frozen(OnnxFeatures(StoredFile(file), partial(self._plan, blueprint=blueprint), WHERE))

    def _plan(self, data: bytes, blueprint: Blueprint) -> Plan:
        graph, layers = resnet_graph(data, WHERE), parsed(self.layers, WHERE)
        known(layers, dict.fromkeys(anatomy_of(graph, WHERE).outputs, 0), WHERE)
        return Plan(graph, Preparation(self.side(blueprint.shape), self.normalise), layers, self.views)
