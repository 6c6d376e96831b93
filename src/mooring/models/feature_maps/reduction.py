"""Few numbers of length 1 instead of many of any size: what noise is added to has to be short."""

from functools import lru_cache
from math import ceil

import torch
from torch import Tensor

from mooring.models.feature_maps.base import FeatureMap
from mooring.models.feature_maps.synthetic import dead_leaves
from mooring.models.network import Blueprint
from mooring.seeds import generator

IMAGES = 1024  # of dead leaves behind a reduction
BATCH = 128
LEAST = 1e-6  # of the largest variance, added to all


def reduction(feature_map: FeatureMap, blueprint: Blueprint, size: int) -> tuple[Tensor, Tensor]:
    """Centre m (d,) and projection P (d, size): (x - m) P are uncorrelated, of variance 1, over dead leaves.

    Its directions are those of T G, T the correlations of features and G random: mostly those in which images vary
    much. Every step is continuous, so that two machines that round differently find the same P but for the last digits,
    which eigenvectors would not grant. No image of anybody is behind it.
    """
    return _computed(feature_map, blueprint, size)  # type: ignore[arg-type]  # maps are frozen


@lru_cache(maxsize=2)  # a server asks for it for every predictor, and a simulation for every client
def _computed(feature_map: FeatureMap, blueprint: Blueprint, size: int) -> tuple[Tensor, Tensor]:
    phi = feature_map.build(blueprint)
    leaves = dead_leaves(blueprint.shape, IMAGES).chunk(ceil(IMAGES / BATCH))
    x = torch.cat([phi(images) for images in leaves]).double()
    centre = x.mean(0)
    spread = (x - centre).square().mean(0).sqrt()
    spread = spread + LEAST * spread.amax()
    z = (x - centre) / spread
    correlation = z.T @ z / len(z)
    noise = torch.randn(len(centre), size, generator=generator(0, "reduction"), dtype=torch.float64)
    directions = correlation @ noise
    gram = directions.T @ correlation @ directions
    gram = gram + LEAST * gram.diagonal().amax() * torch.eye(size, dtype=gram.dtype)
    whitened = torch.linalg.solve_triangular(torch.linalg.cholesky(gram), directions.T, upper=False).T
    return centre, whitened / spread[:, None]


def reduced(x: Tensor, centre: Tensor, projection: Tensor) -> Tensor:
    """u = z / |z|, z = (x - m) P: (B, d) -> (B, size), every vector of length 1."""
    z = (x.double() - centre) @ projection
    unit: Tensor = z / z.norm(dim=1, keepdim=True).clamp(min=torch.finfo(z.dtype).tiny)
    return unit
