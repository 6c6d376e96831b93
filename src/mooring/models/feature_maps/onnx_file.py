"""An encoder in anybody's ONNX file."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import torch
from torch import nn

from mooring.bounds import Checked
from mooring.errors import ModelError
from mooring.models.encoders.layers import parsed
from mooring.models.encoders.onnx_file import anatomy_of, every_output, measured
from mooring.models.encoders.preparation import Normalisation, Preparation, Views, usual_pixels
from mooring.models.encoders.session import OnnxFeatures, Plan, StoredFile
from mooring.models.feature_maps.base import frozen
from mooring.models.feature_maps.content import WHERE, content_of, length_of, named_content
from mooring.models.feature_maps.encoder import Side
from mooring.models.network import Blueprint
from mooring.trees import CONTENT
from mooring.types import FilePath

NATIVE = 224


@dataclass(frozen=True)
class OnnxFile(Checked):
    """phi(x): the outputs of the ONNX file `path`, (N, d) as they are and maps (N, C, h, w) averaged, side by side.

    One input of images (N, 3, H, W), standard operators only, everything in one file. `layers` are names of outputs,
    with @2 for averages over four quarters of a map; none: all outputs, each averaged over the whole map.
    """

    kind: ClassVar[str] = "onnx-file"
    path: FilePath = field(metadata={CONTENT: named_content})
    pixels: Side | None = None  # None: as the file says, else 96 for images up to 40 pixels a side, else 224
    layers: tuple[str, ...] = ()
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
        return self._side(content_of(self.path), shape)

    def _module(self, file: torch.Tensor, blueprint: Blueprint) -> nn.Module:
        return frozen(OnnxFeatures(StoredFile(file), partial(self._plan, blueprint=blueprint), WHERE))

    def _plan(self, data: bytes, blueprint: Blueprint) -> Plan:
        anatomy = anatomy_of(data, WHERE)
        layers = parsed(self.layers, WHERE) or every_output(anatomy)
        side = self._side(data, blueprint.shape)
        return Plan(data, Preparation(side, self.normalise, anatomy.channels), layers, self.views)

    def _side(self, data: bytes, shape: tuple[int, int, int]) -> int:
        fixed = anatomy_of(data, WHERE).side
        if fixed and self.pixels not in (None, fixed):
            raise ModelError(f"encoder.pixels={self.pixels}: the file takes {fixed}", "leave it out")
        return self.pixels or fixed or usual_pixels(shape, NATIVE)
