"""A ResNet as torchvision or timm name it, in a safetensors file."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.models.encoders.layers import check_layers, parse_layers
from mooring.models.encoders.onnx_file import anatomy_of
from mooring.models.encoders.preparation import Preparation, usual_pixels
from mooring.models.encoders.resnet import resnet_graph
from mooring.models.encoders.session import SessionPlan
from mooring.models.feature_maps.content import WHERE
from mooring.models.feature_maps.file_map import NATIVE, FileMap
from mooring.models.network import Blueprint


@dataclass(frozen=True)
class ResNetFile(FileMap):
    """phi(x): averages of the maps of a ResNet whose tensors are in the safetensors file `path`, side by side.

    Tensors are named as torchvision and timm name them (`conv1.weight`, `layer1.0.bn1.running_var`, ...); depth and
    width are those of the file. A layer is `layer1` to `layer4`, with @2 averaged over four quarters of the map.
    """

    kind: ClassVar[str] = "resnet-file"
    layers: tuple[str, ...] = ("layer2@2", "layer3@2", "layer4")

    def side(self, shape: tuple[int, int, int]) -> int:
        return self.pixels or usual_pixels(shape, NATIVE)

    def plan(self, data: bytes, blueprint: Blueprint) -> SessionPlan:
        graph, layers = resnet_graph(data, WHERE), parse_layers(self.layers, WHERE)
        check_layers(layers, dict.fromkeys(anatomy_of(graph, WHERE).outputs, 0), WHERE)
        return SessionPlan(graph, Preparation(self.side(blueprint.shape), self.normalise), layers, self.views)
