"""What leaves a site, in words: every tensor in a sentence, and what its numbers give away."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.uploads.triangle import packed_size, unpack

BY_CLASS = "how many images of each class the site has"
SENTENCES = (
    (r"noised-moments-\w+\.counts", "about how many images of each class the site has, under noise"),
    (r"noised-moments-\w+\.sums", "for each class, the sum of reduced features of its images, under noise"),
    (r"noised-moments-\w+\.second", "the sum of products of reduced features over all images, under noise"),
    (r"noised-moments-\w+\.draws", "how many noises are in these sums: one"),
    (r"moments-\w+\.counts", BY_CLASS),
    (r"moments-\w+\.sums", "for each class, the sum of the features of its images: one vector per class, no image"),
    (r"moments-\w+\.second", "the sum of products of features over all images: how features vary together"),
    (r"mixtures-\w+\.counts", BY_CLASS),
    (r"mixtures-\w+\.\w+", "a mixture of Gaussians fitted to the features of each class: shares, centres or spreads"),
    (r"label_counts", BY_CLASS),
    (r"class_means", "for each class, the mean of the trained network's features of its images"),
    (r"feature_norm", "mean and spread of the length of the trained network's features of all images together"),
    (r"embedding_(mean|deviation)", "mean and spread of the trained network's features of all images together"),
    (r"gram\..*", "what a layer of the network was fed with, as a sum of products over all images"),
    (r"fisher\..*", "how sharply the images determine a parameter of the network"),
    (r"head\.prototypes", "one learned vector per class"),
    (r"(encoder|head)\..*", "weights of the network that the site has trained"),
)
UNKNOWN = "numbers that this version has no words for"
COUNTS = re.compile(r"moments-\w+\.counts|mixtures-\w+\.counts|label_counts")
SECOND = re.compile(r"(moments-\w+)\.second")
TESTABLE = "whoever has them can test whether a known image was used"
RANK = 1e-6  # of the largest eigenvalue, below which a direction is rounding


@dataclass(frozen=True)
class Explained:
    """Tensors that one sentence explains, and their bytes."""

    names: tuple[str, ...]
    sentence: str
    shapes: tuple[tuple[int, ...], ...]
    bytes: int


@dataclass(frozen=True)
class SecondMomentRank:
    """How much second moments tell of single images: their rank against the number of images and of features."""

    rank: int
    features: int
    samples: int

    @property
    def sentence(self) -> str:
        rank = f"of rank {self.rank:,} from {self.samples:,} images with {self.features:,} features each"
        if self.samples <= self.features:
            return f"{rank}: they span what the images span; {TESTABLE}"
        return f"{rank}: many images share every direction"


def explained(tensors: Mapping[str, Tensor]) -> list[Explained]:
    """All tensors, those with one sentence together."""
    groups: dict[str, list[str]] = {}
    for name in tensors:
        groups.setdefault(sentence_of(name), []).append(name)
    return [
        Explained(
            tuple(names),
            sentence,
            tuple(tuple(tensors[name].shape) for name in names),
            sum(tensors[name].nbytes for name in names),
        )
        for sentence, names in groups.items()
    ]


def sentence_of(name: str) -> str:
    return next((said for pattern, said in SENTENCES if re.fullmatch(pattern, name)), UNKNOWN)


def class_counts(tensors: Mapping[str, Tensor]) -> tuple[int, ...] | None:
    """How many images of each class there are, if that leaves the site."""
    found = [tensor for name, tensor in tensors.items() if COUNTS.fullmatch(name) and tensor.dim() == 1]
    return tuple(found[0].tolist()) if found else None


def small_classes(counts: Iterable[int], classes: Iterable[str], minimum: int) -> dict[str, int]:
    """Classes with some images, but fewer than the minimum: their sums are nearly the features of single images."""
    return {label: count for label, count in zip(classes, counts, strict=False) if 0 < count < minimum}


def second_moment_rank(tensors: Mapping[str, Tensor], samples: int) -> SecondMomentRank | None:
    """The rank of second moments that are shared by all classes, if there are some."""
    for second, features in shared_seconds(tensors):
        if not torch.isfinite(second).all():
            continue
        values = torch.linalg.eigvalsh(unpack(second.double(), features))
        rank = int((values > RANK * values[-1].clamp(min=torch.finfo(values.dtype).tiny)).sum())
        return SecondMomentRank(rank, features, samples)
    return None


def shared_seconds(tensors: Mapping[str, Tensor]) -> Iterator[tuple[Tensor, int]]:
    """Second moments that are shared by all classes, and of how many features they are."""
    for name, second in tensors.items():
        match = SECOND.fullmatch(name)
        sums = tensors.get(f"{match[1]}.sums") if match else None
        if sums is not None and sums.dim() == 2 and second.shape == (packed_size(sums.shape[1]),):
            yield second, sums.shape[1]


def testable(tensors: Mapping[str, Tensor], samples: int) -> str | None:
    """What second moments would tell of fewer images than features, before there are any."""
    for _, features in shared_seconds(tensors):
        if 0 < samples <= features:
            return f"{samples:,} images are fewer than the {features:,} features of the sums: {TESTABLE}"
    return None
