"""One pass over the images of a set: their features on disk, and a feature map that looks them up.

Whatever is done with features afterwards (partitioner, moments, admission, fusion) is that of a real run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from bench_tables.runs import RUNS
from mooring.data import ImageSet, Source, batches
from mooring.models import Blueprint, FeatureMap
from mooring.schema import by_file_hash, digest, to_tree
from mooring.uploads import FEATURE_BATCH

CHUNK = 512  # images of one file: what an interrupted pass has to do again is at most that


@dataclass(frozen=True)
class Stored:
    """phi(i): the features of image i."""

    kind: ClassVar[str] = "stored"
    name: str
    features: Tensor = field(repr=False, compare=False)  # (N, d)

    def size(self, blueprint: Blueprint) -> int:
        return self.features.shape[1]

    def build(self, blueprint: Blueprint) -> nn.Module:
        return Lookup(self.features)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self.build(blueprint)


class Lookup(nn.Module):
    def __init__(self, features: Tensor) -> None:
        super().__init__()
        self.features = features

    def forward(self, images: Tensor) -> Tensor:
        return self.features[images.flatten()]


@dataclass(frozen=True)
class Numbered(Source):
    """A set whose images are their numbers: it can be cut and divided like the set itself."""

    source: ClassVar[str] = "numbered"
    labelled: ImageSet = field(default_factory=lambda: numbered(torch.empty(0), ()), repr=False)

    def train(self) -> ImageSet:
        return self.labelled

    def test(self) -> ImageSet:
        raise LookupError("numbers stand for training images: features of test images are stored by themselves")


def numbered(labels: Tensor, classes: tuple[str, ...], first: int = 0) -> ImageSet:
    return ImageSet(torch.arange(first, first + len(labels)).view(-1, 1, 1, 1), labels, classes)


def folder_of(source: Source, features: FeatureMap, blueprint: Blueprint) -> Path:
    """Another map, other images or another normalisation: another folder."""
    made_of = [to_tree(features, by_file_hash), blueprint.shape, blueprint.mean, blueprint.std]
    return RUNS / "features" / f"{source.source}-{features.kind}-{digest(made_of)[:8]}"


def computed(folder: Path, part: str, images: Tensor, features: FeatureMap, blueprint: Blueprint) -> Iterator[Path]:
    """The files of one part, each made when its turn comes, unless it is there."""
    phi = None
    for number, chunk in enumerate(images.split(CHUNK)):
        path = folder / f"{part}-{number * CHUNK:06d}-{len(chunk)}.npy"  # which images: no other division is mistaken
        if not path.exists():
            phi = phi or features.build(blueprint)
            with torch.inference_mode():
                found = torch.cat([phi(batch).float() for batch in batches(chunk, FEATURE_BATCH)])
            folder.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(".part")
            with half.open("wb") as file:
                np.save(file, found.numpy())
            half.rename(path)
            print(f"{path}: {len(found)} images, {found.shape[1]} numbers each", flush=True)
        yield path


def gathered(paths: list[Path]) -> Tensor:
    return torch.cat([torch.from_numpy(np.load(path)) for path in paths])
