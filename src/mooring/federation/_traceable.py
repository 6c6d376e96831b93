"""Modules that torch can trace in the place of those that it cannot: the same numbers by plain products."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.fusion import Gaussians, Predictor
from mooring.models import (
    FLAT_VARIANCE,
    NORMALISATIONS,
    POOLING_GRID,
    VIEWS_OF_IMAGE,
    EncoderViews,
    OnnxFeatures,
    PatchFilters,
    Preparation,
    Responses,
    SessionPlan,
    averaging_matrix,
    layer_outputs,
    patches_of,
)


def exportable(predictor: Predictor) -> Predictor:
    """A copy in which every module that torch cannot trace is one that it can."""
    copy = deepcopy(predictor)
    for parent in list(copy.modules()):
        for name, child in list(parent.named_children()):
            if type(child) in TRACEABLE:
                setattr(parent, name, TRACEABLE[type(child)](child))
    return copy


class WithShares(nn.Module):
    def __init__(self, predictor: Predictor) -> None:
        super().__init__()
        self.predictor = predictor

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        scores = self.predictor(images)
        return scores, scores.softmax(1)


class Prepare(nn.Module):
    """`Preparation` and the views, for images of one size: resizing is linear, so it is two products of matrices."""

    def __init__(self, prepare: Preparation, views: EncoderViews, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.prepare, self.views, self.channels = prepare, views, shape[0]
        self.rows, self.columns = (resizing(length, prepare.pixels) for length in shape[1:])
        mean, std = NORMALISATIONS[prepare.normalise]
        self.mean, self.std = torch.tensor(mean)[:, None, None], torch.tensor(std)[:, None, None]

    def forward(self, images: Tensor) -> Tensor:
        x = images.float() / 255
        if self.channels != self.prepare.channels:
            x = x.mean(1, keepdim=True).expand(-1, self.prepare.channels, -1, -1)
        x = self.rows @ x @ self.columns.T
        x = (x - self.mean) / self.std
        return torch.cat([x, x.flip(3)]) if self.views == "mirrored" else x


class FromMaps(nn.Module):
    """The rest of a predictor, from the maps of its encoder on."""

    def __init__(self, predictor: Predictor, encoder: OnnxFeatures, plan: SessionPlan) -> None:
        super().__init__()
        self.predictor, self.plan = predictor, plan
        self.features = ConstantFeatures()
        for parent in list(predictor.modules()):
            for name, child in list(parent.named_children()):
                if child is encoder:
                    setattr(parent, name, self.features)

    def forward(self, *maps: Tensor) -> tuple[Tensor, Tensor]:
        by_name = dict(zip(layer_outputs(self.plan.layers), maps, strict=True))
        features = torch.cat([pooled(by_name[layer.name], layer.grid) for layer in self.plan.layers], 1)
        if self.plan.views == "mirrored":
            features = features.reshape(2, -1, features.shape[1]).mean(0)
        self.features.value = features
        scores = self.predictor(torch.zeros(1))
        return scores, scores.softmax(1)


class ConstantFeatures(nn.Module):
    """Features that come from elsewhere, whatever the images."""

    value: Tensor

    def forward(self, _: Tensor) -> Tensor:
        return self.value


class Patches(nn.Module):
    """`PatchFilters` for any number of images at once; averages over regions are products of matrices."""

    def __init__(self, own: PatchFilters) -> None:
        super().__init__()
        self.register_buffer("filters", own.filters)
        self.side, self.threshold = own.side, own.threshold

    def forward(self, images: Tensor) -> Tensor:
        patches = F.unfold(images, self.side)
        patches = patches - patches.mean(1, keepdim=True)
        patches = patches / (patches.square().mean(1, keepdim=True) + FLAT_VARIANCE).sqrt()
        rows, columns = (length - self.side + 1 for length in images.shape[2:])
        filters = self.get_buffer("filters")
        u = (filters @ patches).reshape(-1, len(filters), int(rows), int(columns))
        return torch.cat([pooled(F.relu(sign * u - self.threshold), POOLING_GRID) for sign in (1, -1)], 1)


class AllResponses(nn.Module):
    """`Responses` for any number of images at once."""

    def __init__(self, own: Responses) -> None:
        super().__init__()
        self.filters, self.offset = own.filters, own.offset
        self.side, self.threshold, self.grid, self.views = own.side, own.threshold, own.grid, own.views

    def forward(self, images: Tensor) -> Tensor:
        rows, columns = (averaging_matrix(int(length) - self.side + 1, self.grid) for length in images.shape[2:])
        pool = torch.einsum("ay,bx->abyx", rows, columns).flatten(2).flatten(0, 1)
        views = [self._pooled(view, pool) for view in VIEWS_OF_IMAGE[self.views](images)]
        return torch.stack(views).mean(0).sqrt()

    def _pooled(self, images: Tensor, pool: Tensor) -> Tensor:
        u = patches_of(images, self.side) @ self.filters.T + self.offset  # (B, positions, F)
        return torch.cat([pool @ F.relu(sign * u - self.threshold) for sign in (1, -1)], 2)


class Densities(nn.Module):
    """`Gaussians` with their determinants as numbers."""

    def __init__(self, own: Gaussians) -> None:
        super().__init__()
        self.means, self.inverse = own.means, own.inverse
        self.constants = own.inverse.diagonal(dim1=1, dim2=2).log().sum(1).tolist()

    def forward(self, x: Tensor) -> Tensor:
        by_class = zip(self.means, self.inverse, self.constants, strict=True)
        return torch.stack([log_c - 0.5 * ((x - m) @ inverse.T).square().sum(1) for m, inverse, log_c in by_class], 1)


TRACEABLE: dict[type[nn.Module], Callable[[Any], nn.Module]] = {
    PatchFilters: Patches,
    Responses: AllResponses,
    Gaussians: Densities,
}


def pooled(maps: Tensor, grid: int) -> Tensor:
    """Adaptive averages over a grid, (N, C, h, w) -> (N, C g^2); (N, d) stays as it is."""
    if maps.ndim == 2:
        return maps
    rows, columns = (averaging(int(length), grid) for length in maps.shape[2:])
    return (rows @ maps @ columns.T).flatten(1)


def averaging(length: int, cells: int) -> Tensor:
    """(cells, length): each row averages its share of a side, as torch's adaptive pooling divides it."""
    return F.adaptive_avg_pool2d(torch.eye(length)[None, None], (cells, length))[0, 0]


def resizing(length: int, pixels: int) -> Tensor:
    """(pixels, length): how a side is brought to another length."""
    if length == pixels:
        return torch.eye(length)
    return F.interpolate(torch.eye(length)[None, None], (pixels, length), mode="bilinear", antialias=True)[0, 0]
