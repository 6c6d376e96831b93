"""An encoder in anybody's ONNX file."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.errors import ModelError
from mooring.models.encoders.layers import parse_layers
from mooring.models.encoders.onnx_file import anatomy_of, every_output
from mooring.models.encoders.preparation import Preparation, usual_pixels
from mooring.models.encoders.session import SessionPlan
from mooring.models.feature_maps.content import WHERE, content_of
from mooring.models.feature_maps.file_map import NATIVE, FileMap
from mooring.models.network import Blueprint


@dataclass(frozen=True)
class OnnxFile(FileMap):
    """phi(x): the outputs of the ONNX file `path`, (N, d) as they are and maps (N, C, h, w) averaged, side by side.

    One input of images (N, 3, H, W), standard operators only, everything in one file. `layers` are names of outputs,
    with @2 for averages over four quarters of a map; none: all outputs, each averaged over the whole map.
    """

    kind: ClassVar[str] = "onnx-file"

    def side(self, shape: tuple[int, int, int]) -> int:
        return self._side(content_of(self.path), shape)

    def plan(self, data: bytes, blueprint: Blueprint) -> SessionPlan:
        anatomy = anatomy_of(data, WHERE)
        layers = parse_layers(self.layers, WHERE) or every_output(anatomy)
        side = self._side(data, blueprint.shape)
        return SessionPlan(data, Preparation(side, self.normalise, anatomy.channels), layers, self.views)

    def _side(self, data: bytes, shape: tuple[int, int, int]) -> int:
        fixed = anatomy_of(data, WHERE).side
        if fixed and self.pixels not in (None, fixed):
            raise ModelError(f"encoder.pixels={self.pixels}: the file takes {fixed}", "leave it out")
        return self.pixels or fixed or usual_pixels(shape, NATIVE)
