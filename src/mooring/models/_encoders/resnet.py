"""ResNets under the names that torchvision and timm give their tensors, written as ONNX graphs."""

from collections.abc import Mapping
from functools import lru_cache

from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from mooring.errors import ModelError
from mooring.models._encoders.graph import INPUT, Graph, folded

EPSILON = 1e-5
STAGES = ("layer1", "layer2", "layer3", "layer4")
NORM = ("weight", "bias", "running_mean", "running_var")
REMEDY = "save a ResNet of torchvision or timm with safetensors"


def is_resnet(names: set[str]) -> bool:
    return {"conv1.weight", "bn1.weight", "layer1.0.conv1.weight", "layer4.0.conv1.weight"} <= names


def tensors_of(data: bytes, where: str) -> dict[str, Tensor]:
    try:
        return load(data)
    except SafetensorError as error:
        raise ModelError(f"{where}: is not a safetensors file ({error})", REMEDY) from None


@lru_cache(maxsize=2)
def resnet_graph(data: bytes, where: str) -> bytes:
    """The ONNX graph of the ResNet in a safetensors file."""
    return ResNet(tensors_of(data, where), where).written()


class ResNet:
    """Basic blocks or bottlenecks (He et al. 2015, the stride on the 3x3 convolution), as many as there are tensors."""

    def __init__(self, state: Mapping[str, Tensor], where: str) -> None:
        self.state = state
        self.where = where
        self.graph = Graph()
        self.channels: dict[str, int] = {INPUT: 3}  # of every node

    def written(self) -> bytes:
        """All four stages are outputs."""
        x = self.rectified(self.layer(INPUT, "conv1", "bn1", stride=2))
        x = self.named(self.graph.largest(x, 3, 2, 1), self.channels[x])
        maps = {}
        for stage in STAGES:
            i = 0
            while f"{stage}.{i}.conv1.weight" in self.state:
                x = self.block(x, f"{stage}.{i}", stride=2 if i == 0 and stage != STAGES[0] else 1)
                i += 1
            if i == 0:
                raise self.missing(f"{stage}.0.conv1.weight")
            maps[stage] = x, self.channels[x]
        return self.graph.written(maps)

    def block(self, x: str, own: str, stride: int) -> str:
        bottleneck = f"{own}.conv3.weight" in self.state
        first, second = (1, stride) if bottleneck else (stride, 1)
        out = self.rectified(self.layer(x, f"{own}.conv1", f"{own}.bn1", first))
        out = self.layer(out, f"{own}.conv2", f"{own}.bn2", second)
        if bottleneck:
            out = self.layer(self.rectified(out), f"{own}.conv3", f"{own}.bn3")
        if f"{own}.downsample.0.weight" in self.state:
            x = self.layer(x, f"{own}.downsample.0", f"{own}.downsample.1", stride)
        if self.channels[x] != self.channels[out]:
            raise ModelError(f"{self.where}: {own} turns {self.channels[x]} channels into {self.channels[out]}", REMEDY)
        return self.rectified(self.named(self.graph.sum(x, out), self.channels[out]))

    def layer(self, x: str, convolution: str, norm: str, stride: int = 1) -> str:
        weight = self.tensor(f"{convolution}.weight")
        statistics = {key: self.tensor(f"{norm}.{key}") for key in NORM}
        given = self.channels[x]
        if weight.ndim != 4 or weight.shape[1] == 0 or given % weight.shape[1] or weight.shape[2] != weight.shape[3]:
            raise ModelError(
                f"{self.where}: {convolution}.weight is {tuple(weight.shape)} after {given} channels", REMEDY
            )
        if any(statistic.shape != weight.shape[:1] for statistic in statistics.values()):
            raise ModelError(f"{self.where}: {norm} does not fit {convolution}.weight {tuple(weight.shape)}", REMEDY)
        folded_weight, bias = folded(weight, statistics, EPSILON)
        groups, padding = given // weight.shape[1], weight.shape[2] // 2
        node = self.graph.convolution(x, folded_weight, bias, stride, padding, groups)
        return self.named(node, weight.shape[0])

    def rectified(self, x: str) -> str:
        return self.named(self.graph.rectified(x), self.channels[x])

    def named(self, node: str, channels: int) -> str:
        self.channels[node] = channels
        return node

    def tensor(self, name: str) -> Tensor:
        if name not in self.state:
            raise self.missing(name)
        tensor = self.state[name]
        if not tensor.is_floating_point() or not tensor.isfinite().all():
            raise ModelError(f"{self.where}: tensor {name!r} holds values that are not finite", REMEDY)
        return tensor

    def missing(self, name: str) -> ModelError:
        return ModelError(f"{self.where}: tensor {name!r} is missing", REMEDY)
