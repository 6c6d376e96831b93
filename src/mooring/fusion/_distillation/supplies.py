"""Images for a student to learn from, without any client's private images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Generator, Tensor

from mooring.errors import FusionError
from mooring.fusion._base import Images, Server
from mooring.fusion._frozen_features import cholesky
from mooring.models import Pixels
from mooring.types import Upload
from mooring.uploads import Moments, Parts

JITTER = 1e-6  # of the mean variance: a pixel that never changes has none


class Supply(Protocol):
    """Where a student's images come from: what clients upload for it, and what the server must hold."""

    kind: ClassVar[str]

    @property
    def needs(self) -> Parts: ...

    @property
    def asks(self) -> frozenset[Images]: ...

    def __call__(self, uploads: Sequence[Upload], server: Server, count: int, rng: Generator) -> Tensor:
        """At most `count` images, (N, C, H, W) in [0, 1]."""
        ...


@dataclass(frozen=True)
class PublicImages:
    """Images that anybody may see."""

    kind: ClassVar[str] = "public"
    needs: ClassVar[Parts] = frozenset()
    asks: ClassVar[frozenset[Images]] = frozenset({"public"})

    def __call__(self, uploads: Sequence[Upload], server: Server, count: int, rng: Generator) -> Tensor:
        if not server.public:
            raise FusionError("distillation needs public images, and the server has none", "set data.public_ratio=0.1")
        images = server.public.images
        return images[torch.randperm(len(images), generator=rng)[:count]].float() / 255


@dataclass(frozen=True)
class GaussianPixels:
    """x ~ N(m_c, S), m_c the mean image of class c over all clients, S the covariance within classes.

    Classes that somebody has seen take turns. The statistics of pixels are what clients upload for it.
    """

    kind: ClassVar[str] = "gaussian-pixels"
    asks: ClassVar[frozenset[Images]] = frozenset()

    @property
    def needs(self) -> Parts:
        return frozenset({self._moments})

    @property
    def _moments(self) -> Moments:
        return Moments(Pixels(), "shared")

    def __call__(self, uploads: Sequence[Upload], server: Server, count: int, rng: Generator) -> Tensor:
        totals, blueprint = self._moments.total(uploads), server.blueprint
        n = totals.counts[totals.counts > 0, None]
        m = totals.sums[totals.counts > 0] / n  # (classes seen, d)
        s = (totals.second - (n * m).T @ m) / n.sum()
        s = s + JITTER * s.diagonal().mean().clamp(min=JITTER) * torch.eye(len(s))
        noise = torch.randn(count, len(s), generator=rng, dtype=s.dtype)
        x = m[torch.arange(count) % len(m)] + noise @ cholesky(s).T
        mean, std = (torch.tensor(values)[:, None, None] for values in (blueprint.mean, blueprint.std))
        images: Tensor = mean + std * x.float().unflatten(1, blueprint.shape)
        return images.clamp(0, 1)


SUPPLIES: dict[str, type[Supply]] = {"gaussian-pixels": GaussianPixels, "public": PublicImages}
