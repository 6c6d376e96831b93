"""A trained encoder of the model's own architecture, in a safetensors file."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from mooring.errors import ModelError
from mooring.models._encoder_reference import hash_only
from mooring.models._feature_maps.base import Normalise, frozen
from mooring.models._network import Blueprint
from mooring.schema import CONTENT, Checked, Doc, FilePath


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
    ] = field(metadata={CONTENT: hash_only})

    def size(self, blueprint: Blueprint) -> int:
        encoder, size = blueprint.backbone.build(blueprint.shape[0], torch.Generator())
        with self._opened() as file:
            self._names(file, encoder)
        return size

    def empty(self, blueprint: Blueprint) -> nn.Module:
        encoder, _ = blueprint.backbone.build(blueprint.shape[0], torch.Generator())
        return frozen(Normalise(blueprint), encoder)

    def build(self, blueprint: Blueprint) -> nn.Module:
        encoder, _ = blueprint.backbone.build(blueprint.shape[0], torch.Generator())
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
