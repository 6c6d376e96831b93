"""Residual encoders for small images: 3x3 stem, no max-pool, features after the last ReLU and an average pool.

All are one function with different stages; `width` scales every channel count. Weights are drawn from an explicit
generator: a seed gives the same network in every process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

import torch
import torch.nn.functional as F
from annotated_types import Gt, Le
from torch import Generator, Tensor, nn

from mooring.schema import Checked, Doc

Width = Annotated[float, Gt(0), Le(64)]  # scales every channel count
BlockStage = tuple[int, int, int]  # channels, blocks, stride of the first block
ImageShape = tuple[int, int, int]  # channels, height, width


class Backbone(Protocol):
    """A frozen description of an encoder: the shape of an image -> (module, feature size d)."""

    kind: ClassVar[str]

    def build(self, shape: ImageShape, rng: Generator) -> tuple[nn.Module, int]: ...


class Block(nn.Module):
    """relu(bn(conv(relu(bn(conv(x))))) + shortcut(x)) (He et al. 2016, basic block)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(hidden)) + self.shortcut(x), inplace=True)


def residual(
    channels: int, stem: int, stages: tuple[BlockStage, ...], width: float, rng: Generator, stride: int = 1
) -> tuple[nn.Module, int]:
    """Stem, stages and average pool, initialised from `rng`; the stem has this stride."""

    def scaled(size: int) -> int:
        return max(1, round(width * size))

    with torch.random.fork_rng(devices=[]):  # construction draws weights that are drawn again below
        inputs = scaled(stem)
        layers: list[nn.Module] = [
            nn.Conv2d(channels, inputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(inputs),
            nn.ReLU(),
        ]
        for size, blocks, first in stages:
            for block in range(blocks):
                layers.append(Block(inputs, scaled(size), first if block == 0 else 1))
                inputs = scaled(size)
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    encoder = nn.Sequential(*layers)
    initialise(encoder, rng)
    return encoder, inputs


def initialise(module: nn.Module, rng: Generator) -> None:
    """He initialisation of convolutions and linear layers, identity batch norms; every draw from `rng`."""
    if shapes_only():
        return
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=rng)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.BatchNorm2d):
            layer.reset_parameters()


@dataclass(frozen=True)
class ResidualNet(Checked):
    """Residual blocks in stages behind a stem."""

    stem: ClassVar[int]  # channels
    stem_stride: ClassVar[int] = 1
    stages: ClassVar[tuple[BlockStage, ...]]
    kind: ClassVar[str]
    width: Annotated[Width, Doc("factor of all channel counts and of the feature size")] = 1.0

    def build(self, shape: ImageShape, rng: Generator) -> tuple[nn.Module, int]:
        return residual(shape[0], self.stem, self.stages, self.width, rng, self.stem_stride)


@dataclass(frozen=True)
class DigitsNet(ResidualNet):
    """For 8x8 images: stem 16, residual blocks 16 and 32 (stride 2), d = 32."""

    stem: ClassVar[int] = 16
    stages: ClassVar[tuple[BlockStage, ...]] = ((16, 1, 1), (32, 1, 2))
    kind: ClassVar[str] = "digits_net"


@dataclass(frozen=True)
class ResNet8(ResidualNet):
    """Three residual blocks 16, 32, 64: what two CPU cores can train; d = 64."""

    stem: ClassVar[int] = 16
    stages: ClassVar[tuple[BlockStage, ...]] = ((16, 1, 1), (32, 1, 2), (64, 1, 2))
    kind: ClassVar[str] = "resnet8"


@dataclass(frozen=True)
class HalfResNet8(ResNet8):
    """ResNet-8 behind a stem of stride 2: maps of half the side, a third of the time; d = 64."""

    stem_stride: ClassVar[int] = 2
    kind: ClassVar[str] = "resnet8_half"


@dataclass(frozen=True)
class ResNet18(ResidualNet):
    """ResNet-18 with the CIFAR stem, d = 512: the encoder of the lab notes."""

    stem: ClassVar[int] = 64
    stages: ClassVar[tuple[BlockStage, ...]] = ((64, 2, 1), (128, 2, 2), (256, 2, 2), (512, 2, 2))
    kind: ClassVar[str] = "resnet18"


@dataclass(frozen=True)
class ResNet34(ResidualNet):
    """ResNet-34 with the CIFAR stem, d = 512."""

    stem: ClassVar[int] = 64
    stages: ClassVar[tuple[BlockStage, ...]] = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
    kind: ClassVar[str] = "resnet34"


BACKBONES: dict[str, type[Backbone]] = {
    "digits_net": DigitsNet,
    "resnet8": ResNet8,
    "resnet8_half": HalfResNet8,
    "resnet18": ResNet18,
    "resnet34": ResNet34,
}


def shapes_only() -> bool:
    """Are meta tensors requested? Nothing is computed then, because torch would load its compiler."""
    return torch.empty(0).is_meta


def unless_meta(rows: int, columns: int, draw: Callable[[], Tensor]) -> Tensor:
    """What `draw` returns, (rows, columns), unless meta tensors are requested."""
    return torch.empty(rows, columns) if shapes_only() else draw()
