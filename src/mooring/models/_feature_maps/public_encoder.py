"""An encoder that the server trains on public images and sends with the client job."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from torch import Tensor, nn

from mooring.errors import ConfigError, ModelError
from mooring.models._backbones import Block
from mooring.models._encoder_reference import hash_only
from mooring.models._encoders.session import VIEWS_OF_IMAGE, EncoderViews, UsualFeatureViews
from mooring.models._feature_maps.file_maps import EncoderFile, FileMap
from mooring.models._feature_maps.untrained import POOLING_GRID
from mooring.models._feature_maps.whitened_filters import WhitenedFilters
from mooring.models._network import Blueprint, FeatureMap, Normalise, frozen
from mooring.schema import CONTENT_HASH, Checked, Count, Doc, FilePath

AT_ONCE = 32  # images that pass through the encoder together


@dataclass(frozen=True)
class PublicEncoder(Checked):
    """phi(x): averages over four regions of the maps after the stem and every block of the model's backbone, which the
    server has trained for `epochs` epochs on public images, concatenated with the features of `beside`.

    `path` is the file of its weights, once they exist: a run writes them into its folder, and its job names them by
    their content. `views` as for filters.
    """

    kind: ClassVar[str] = "public-encoder"
    epochs: Annotated[Count, Doc("epochs over the public images")] = 30
    beside: Annotated[
        FeatureMap | None,
        Doc("a map whose features are added"),
    ] = field(default_factory=lambda: WhitenedFilters(channels=352, filters=512))
    views: UsualFeatureViews = None
    path: Annotated[FilePath | None, Doc("safetensors file of its weights; `null`: train them")] = field(
        default=None, metadata={CONTENT_HASH: lambda path: None if path is None else hash_only(path)}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.beside, (EncoderFile, FileMap)):
            message = "an encoder in a file of its own stands alone; name it with encoder=FILE"
            raise ConfigError([f"PublicEncoder.beside={self.beside.kind}: {message}"])

    def size(self, blueprint: Blueprint) -> int:
        encoder, _ = blueprint.backbone.build(blueprint.shape, torch.Generator())
        with torch.no_grad():
            own: Tensor = Layers(encoder.eval(), "one")(torch.zeros(1, *blueprint.shape))
        return own.shape[1] + (0 if self.beside is None else self.beside.size(blueprint))

    def build(self, blueprint: Blueprint) -> nn.Module:
        if self.path is None:
            raise ModelError(f"map={self.kind}: it has not been trained", "run method=public-encoder, which does")
        normalise, encoder = EncoderFile(self.path).build(blueprint).children()
        beside = None if self.beside is None else self.beside.build(blueprint)
        return self._module(normalise, encoder, beside)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        encoder, _ = blueprint.backbone.build(blueprint.shape, torch.Generator())
        beside = None if self.beside is None else self.beside.empty(blueprint)
        return self._module(Normalise(blueprint), encoder, beside)

    def _module(self, normalise: nn.Module, encoder: nn.Module, beside: nn.Module | None) -> nn.Module:
        own = nn.Sequential(normalise, Layers(encoder, self.views or "one"))
        return frozen(own if beside is None else SideBySide(own, beside))


class Layers(nn.Module):
    """(B, C, H, W) -> averages of the maps of an encoder over regions; its last features where it has no blocks."""

    def __init__(self, encoder: nn.Module, views: EncoderViews) -> None:
        super().__init__()
        self.encoder = encoder
        self.views = views

    def forward(self, images: Tensor) -> Tensor:
        parts = [self._features(part) for part in images.split(AT_ONCE)]
        return torch.cat(parts)

    def _features(self, images: Tensor) -> Tensor:
        return torch.stack([self._pooled(view) for view in VIEWS_OF_IMAGE[self.views](images)]).mean(0)

    def _pooled(self, x: Tensor) -> Tensor:
        if not isinstance(self.encoder, nn.Sequential):
            features: Tensor = self.encoder(x)
            return features
        maps = []
        for layer in self.encoder:
            x = layer(x)
            if isinstance(layer, nn.ReLU | Block):
                maps.append(nn.functional.adaptive_avg_pool2d(x, POOLING_GRID).flatten(1))
        return torch.cat(maps or [x], 1)


class SideBySide(nn.Module):
    """(f(x), g(x))"""

    def __init__(self, one: nn.Module, other: nn.Module) -> None:
        super().__init__()
        self.one = one
        self.other = other

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([self.one(images), self.other(images)], 1)
