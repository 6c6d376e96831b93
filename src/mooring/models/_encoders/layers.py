"""Which maps of an encoder become features, and on which grid they are averaged."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from mooring.errors import ModelError, nearest

FINEST = 8  # grid
MOST_FEATURES = 2**13  # of one image: their second moments are 134 MB already


@dataclass(frozen=True)
class Layer:
    """`NAME` is averaged over the whole map, `NAME@2` over each cell of a 2 x 2 grid."""

    name: str
    grid: int = 1

    def __call__(self, output: Tensor) -> Tensor:
        """(B, C, h, w) -> (B, C g^2); (B, d) stays as it is."""
        return output if output.ndim == 2 else F.adaptive_avg_pool2d(output, self.grid).flatten(1)

    def size(self, channels: int) -> int:
        return channels * self.grid**2


EncoderLayers = tuple[Layer, ...]


def parse_layers(texts: Iterable[str], where: str) -> EncoderLayers:
    """Layers as they are written in a configuration."""
    layers = tuple(one(text, where) for text in texts)
    if len(set(layers)) < len(layers):
        raise ModelError(f"{where}.layers={list(texts)}: names a layer twice", "name every layer once")
    return layers


def one(text: str, where: str) -> Layer:
    name, at, grid = text.rpartition("@")
    if not at:
        return Layer(text)
    if not (grid.isascii() and grid.isdigit() and 1 <= int(grid) <= FINEST):
        raise ModelError(f"{where}.layers={text}: its grid must be 1 to {FINEST}", f"write {name}@2")
    return Layer(name, int(grid))


def check_layers(layers: EncoderLayers, there: Mapping[str, int], where: str) -> None:
    """Reject layers that the encoder does not have."""
    for layer in layers:
        if layer.name not in there:
            raise ModelError(
                f"{where}.layers={layer.name}: is not an output of this encoder", nearest(layer.name, there)
            )


def layer_outputs(layers: EncoderLayers) -> tuple[str, ...]:
    """The maps behind the layers, each once."""
    return tuple(dict.fromkeys(layer.name for layer in layers))


def check_size(size: int, where: str) -> int:
    if size > MOST_FEATURES:
        raise ModelError(
            f"{where}: gives {size} numbers for an image; at most {MOST_FEATURES}", f"name fewer of {where}.layers"
        )
    return size
