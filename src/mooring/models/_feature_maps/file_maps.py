"""Encoders in users' files: the model's own architecture in a safetensors file; and, run by onnxruntime, any ONNX
file or a ResNet as torchvision and timm name it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from mooring.errors import ModelError
from mooring.models._encoder_reference import WHERE, content_of, hash_and_length, hash_only, length_of
from mooring.models._encoders.layers import check_layers, parse_layers
from mooring.models._encoders.onnx_file import anatomy_of, every_output, feature_count
from mooring.models._encoders.resnet import resnet_graph
from mooring.models._encoders.session import (
    FeatureViews,
    Normalisation,
    OnnxFeatures,
    Preparation,
    SessionPlan,
    StoredFile,
    usual_pixels,
)
from mooring.models._feature_maps.encoder import Side
from mooring.models._network import Blueprint, Normalise, frozen
from mooring.schema import CONTENT_HASH, Checked, Doc, FilePath

NATIVE = 224  # pixels a side, where a file does not say


@dataclass(frozen=True)
class EncoderFile(Checked):
    """The pooled features of the model's backbone with the weights in the safetensors file `path`.

    Tensors are named as in the backbone's state, or with `encoder.` before it as in a client's upload. Other tensors
    are ignored; nothing is unpickled.
    """

    kind: ClassVar[str] = "encoder-file"
    path: Annotated[
        FilePath,
        Doc("safetensors with an encoder of this `model`"),
    ] = field(metadata={CONTENT_HASH: hash_only})

    def size(self, blueprint: Blueprint) -> int:
        encoder, size = blueprint.backbone.build(blueprint.shape, torch.Generator())
        with self._opened() as file:
            self._names(file, encoder)
        return size

    def empty(self, blueprint: Blueprint) -> nn.Module:
        encoder, _ = blueprint.backbone.build(blueprint.shape, torch.Generator())
        return frozen(Normalise(blueprint), encoder)

    def build(self, blueprint: Blueprint) -> nn.Module:
        encoder, _ = blueprint.backbone.build(blueprint.shape, torch.Generator())
        with self._opened() as file:
            state = {own: file.get_tensor(name) for own, name in self._names(file, encoder).items()}
        self._reject_broken(state)
        encoder.load_state_dict(state)
        return frozen(Normalise(blueprint), encoder)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with safe_open(self.path, framework="pt") as file:
                yield file
        except OSError as error:
            raise ModelError(
                f"map.path={self.path}: cannot be read ({error.strerror or error})", "name an existing file"
            ) from None
        except SafetensorError as error:
            raise ModelError(
                f"map.path={self.path}: is not a safetensors file ({error})", "save the encoder with safetensors"
            ) from None

    def _names(self, file: Any, encoder: nn.Module) -> dict[str, str]:
        """Where each tensor of the encoder is in the file, its shape checked without reading it."""
        there = set(file.keys())
        names = {}
        for own, tensor in encoder.state_dict().items():
            name = first(there, own, f"encoder.{own}")
            if name is None:
                raise ModelError(
                    f"map.path={self.path}: tensor {own!r} is missing", "give the encoder of this model, or set model"
                )
            shape = tuple(file.get_slice(name).get_shape())
            if shape != tuple(tensor.shape):
                raise ModelError(
                    f"map.path={self.path}: tensor {name!r} has shape {shape}, not {tuple(tensor.shape)}",
                    "give the encoder of this model, or set model",
                )
            names[own] = name
        return names

    def _reject_broken(self, state: dict[str, Tensor]) -> None:
        for name, tensor in state.items():
            if not torch.isfinite(tensor).all():
                raise ModelError(
                    f"map.path={self.path}: tensor {name!r} holds values that are not finite", "train the encoder again"
                )


def first(there: Iterable[str], *names: str) -> str | None:
    return next((name for name in names if name in there), None)


@dataclass(frozen=True)
class FileMap(Checked, ABC):
    """phi(x): maps of the encoder in the file `path`, averaged, side by side."""

    kind: ClassVar[str]
    path: Annotated[FilePath, Doc("ONNX, or safetensors of a ResNet (torchvision, timm)")] = field(
        metadata={CONTENT_HASH: hash_and_length}
    )
    pixels: Annotated[
        Side | None,
        Doc("input size; `null`: the file's, else 96 for images up to 40 pixels, else 224"),
    ] = None
    layers: Annotated[tuple[str, ...], Doc("outputs of the file; `[]`: all")] = ()
    normalise: Annotated[
        Normalisation,
        Doc("input normalisation; `centred`: (x - 127) / 128, `none`: 0 to 1"),
    ] = "imagenet"
    views: FeatureViews = "one"

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


@dataclass(frozen=True)
class ResNetFile(FileMap):
    """phi(x): averages of the maps of a ResNet whose tensors are in the safetensors file `path`, side by side.

    Tensors are named as torchvision and timm name them (`conv1.weight`, `layer1.0.bn1.running_var`, ...); depth and
    width are read from the file. A layer is `layer1` to `layer4`, with @2 averaged over four quarters of the map.
    """

    kind: ClassVar[str] = "resnet-file"
    layers: Annotated[tuple[str, ...], Doc("`layer1` to `layer4`, with or without `@2`")] = (
        "layer2@2",
        "layer3@2",
        "layer4",
    )

    def side(self, shape: tuple[int, int, int]) -> int:
        return self.pixels or usual_pixels(shape, NATIVE)

    def plan(self, data: bytes, blueprint: Blueprint) -> SessionPlan:
        graph, layers = resnet_graph(data, WHERE), parse_layers(self.layers, WHERE)
        check_layers(layers, dict.fromkeys(anatomy_of(graph, WHERE).outputs, 0), WHERE)
        return SessionPlan(graph, Preparation(self.side(blueprint.shape), self.normalise), layers, self.views)
