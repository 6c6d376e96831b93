"""Divides the training images among clients, after a subset, validation images and public images were taken."""

from collections import Counter
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data._augment import LUMA
from mooring.data._file_images import FileImages, in_memory
from mooring.data._images import ImageSet, Source
from mooring.data._partition import Partitioner, Population, divide
from mooring.data._partition.base import Partition, indices_by_client, take_groups
from mooring.data._sites import SimulatedSite, site_names
from mooring.errors import DataError
from mooring.seeds import numpy_generator
from mooring.types import PartitionSummary


@dataclass(frozen=True)
class Federation:
    """The training images of all clients in one place (this is a simulation), and who owns which."""

    train: ImageSet = field(repr=False)
    validation: ImageSet | None = field(repr=False)
    partition: Partition = field(repr=False)
    public: ImageSet | None = field(default=None, repr=False)
    chosen: np.ndarray | None = field(default=None, repr=False)  # which images of the source are the training images
    published: np.ndarray | None = field(default=None, repr=False)  # and which are public

    @property
    def clients(self) -> int:
        return len(self.partition.indices)

    def pooled(self) -> "Federation":
        """The same images at a single client: the baseline of centralised training."""
        everything = np.unique(np.concatenate(self.partition.indices))
        return replace(self, partition=Partition.of([everything], population_of(self.train)))

    def digest(self) -> str:
        """SHA-256 of the training images and labels, in their order."""
        return self.train.sha256()

    def summary(self) -> PartitionSummary:
        """The partition in numbers; what was made public is part of its hash."""
        summary = self.partition.summary()
        if self.public is None:
            return summary
        indices = np.empty(0, "<i8") if self.published is None else self.published.astype("<i8")
        digest = sha256(str(summary.sha256).encode() + indices.tobytes()).hexdigest()
        return replace(summary, sha256=digest, public=len(self.public))

    def sites(self) -> tuple[SimulatedSite, ...]:
        """One site per client, with its own images only."""
        names = site_names(self.train.sites, self.partition.indices)
        return tuple(
            SimulatedSite(name, number, self.train, indices)
            for number, (name, indices) in enumerate(zip(names, self.partition.indices, strict=True))
        )


def federate(source: Source, partitioner: Partitioner, seed: int, public_ratio: float = 0.0) -> Federation:
    """Read the training part, take `limit` images, hold back `validation`, publish some, divide the rest.

    `seed` is the split seed: it decides which client gets which image, and does not affect training.
    """
    images = source.train()
    chosen = np.arange(len(images))
    if source.limit is not None:
        if source.limit > len(images):
            raise DataError(
                f"data.limit={source.limit} is more than the {len(images)} training images there are",
                "lower data.limit or leave it out",
            )
        chosen, _ = stratified_split(images.labels.numpy(), chosen, source.limit, numpy_generator(seed, "limit"))
    held: np.ndarray = np.empty(0, dtype=np.int64)
    labels, groups = images.labels.numpy(), None if images.groups is None else np.array(images.groups)
    if source.validation > 0:
        count = round(source.validation * len(chosen))
        held, chosen = stratified_split(labels, chosen, count, numpy_generator(seed, "validation"), groups)
    public, published = None, None
    if source.public is not None:
        public = fitted(source.public.train(), images.shape)
    elif public_ratio > 0:
        count = round(public_ratio * len(chosen))
        published, chosen = stratified_split(labels, chosen, count, numpy_generator(seed, "public"), groups)
        public = held_in_memory(images.select(torch.from_numpy(published))) if len(published) else None
    in_files = isinstance(images.images, FileImages)
    untouched = len(chosen) == len(images) and (in_files or in_memory(images.images).is_contiguous())
    train = images if untouched else images.select(torch.from_numpy(chosen))
    validation = images.select(torch.from_numpy(held)) if len(held) else None
    partition = divide(partitioner, population_of(train), seed)
    return Federation(train, validation, partition, public, chosen, published)


def held_in_memory(images: ImageSet) -> ImageSet:
    """For images that a server trains on again and again."""
    return replace(images, images=in_memory(images.images))


def population_of(images: ImageSet) -> Population:
    return Population(images.labels.numpy(), len(images.classes), images.sites, images.groups)


def stratified_split(
    labels: np.ndarray, among: np.ndarray, count: int, rng: np.random.Generator, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """`count` of the indices `among`, every class in proportion (largest remainder), and the others; both sorted.

    With `groups`, one per label, as nearly so many as whole groups can be.
    """
    classes, sizes = np.unique(labels[among], return_counts=True)
    exact = count * sizes / len(among)
    quota = np.floor(exact).astype(np.int64)
    quota[np.argsort(quota - exact, kind="stable")[: count - quota.sum()]] += 1
    if groups is None:
        order = rng.permutation(among)
        taken = [order[labels[order] == c][:n] for c, n in zip(classes, quota, strict=True)]
    else:
        names, owners = np.unique(groups[among], return_inverse=True)
        parts = indices_by_client(owners.astype(np.int64), len(names))
        members = [among[parts[number]] for number in rng.permutation(len(names))]
        counts = [Counter(labels[own].tolist()) for own in members]
        wanted = dict(zip(classes.tolist(), quota.tolist(), strict=True))
        taken = [np.empty(0, np.int64), *(members[position] for position in take_groups(counts, wanted))]
    chosen = np.sort(np.concatenate(taken))
    return chosen, np.setdiff1d(among, chosen)


def fitted(images: ImageSet, shape: tuple[int, int, int]) -> ImageSet:
    """Images of another source in the shape that the clients' network takes."""
    channels, height, width = shape
    pixels = in_memory(images.images).float()
    if pixels.shape[1] == 3 and channels == 1:
        pixels = (pixels * torch.tensor(LUMA)[:, None, None]).sum(1, keepdim=True)
    elif pixels.shape[1] == 1 and channels == 3:
        pixels = pixels.expand(-1, 3, -1, -1)
    if pixels.shape[2:] != (height, width):
        pixels = resized(pixels, height, width)
    return ImageSet(pixels.round().clamp(0, 255).to(torch.uint8).contiguous(), images.labels, images.classes)


def resized(pixels: Tensor, height: int, width: int) -> Tensor:
    return F.interpolate(pixels, (height, width), mode="bilinear", antialias=True, align_corners=False)
