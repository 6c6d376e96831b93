"""What leaves a site, in words: a sentence for every tensor, and what its numbers reveal."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from mooring.fusion import FUSIONS
from mooring.uploads import (
    IMAGES_BY_CLASS,
    SECOND_MOMENTS,
    NoisedMoments,
    Part,
    sentence_in,
    sentences_of,
    strip_settings_hash,
    triangle_size,
    unpack_triangle,
)

UNKNOWN = "numbers that this version has no words for"
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
    """How much second moments reveal about single images: their rank, the number of images and of features."""

    rank: int
    features: int
    samples: int

    @property
    def sentence(self) -> str:
        rank = f"of rank {self.rank:,} from {self.samples:,} images with {self.features:,} features each"
        if self.samples <= self.features:
            return f"{rank}: they span what the images span; {TESTABLE}"
        return f"{rank}: many images share every direction"


def explain_tensors(tensors: Mapping[str, Tensor]) -> list[Explained]:
    """All tensors; those with the same sentence are one entry."""
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


def sentence_of(name: str, parts: Iterable[Part] = ()) -> str:
    """What the tensor of this name tells about a site; `parts` are those of a job, which may be a user's own."""
    return sentence_in({**sentences_of(parts), **known_sentences()}, name) or UNKNOWN


@cache
def known_sentences() -> Mapping[str, str]:
    """The sentences of all parts in this package: those that a rule needs by default, and those under noise."""
    needed = sentences_of(part for rule in FUSIONS.values() for part in rule().needs)
    return {**NoisedMoments.sentences, **needed}


def class_counts(tensors: Mapping[str, Tensor]) -> tuple[int, ...] | None:
    """How many images of each class there are, if that leaves the site."""
    found = [t for name, t in tensors.items() if sentence_of(name) == IMAGES_BY_CLASS and t.dim() == 1]
    return tuple(found[0].tolist()) if found else None


def small_classes(counts: Iterable[int], classes: Iterable[str], minimum: int) -> dict[str, int]:
    """Classes with at least one image but fewer than the minimum: their sums are nearly features of single images."""
    return {label: count for label, count in zip(classes, counts, strict=False) if 0 < count < minimum}


def second_moment_rank(tensors: Mapping[str, Tensor], samples: int) -> SecondMomentRank | None:
    """The rank of the second moments that all classes share, if the site sends them."""
    for second, features in shared_seconds(tensors):
        if not torch.isfinite(second).all():
            continue
        values = torch.linalg.eigvalsh(unpack_triangle(second.double(), features))
        rank = int((values > RANK * values[-1].clamp(min=torch.finfo(values.dtype).tiny)).sum())
        return SecondMomentRank(rank, features, samples)
    return None


def shared_seconds(tensors: Mapping[str, Tensor]) -> Iterator[tuple[Tensor, int]]:
    """Second moments that all classes share, and the number of their features."""
    for name, second in tensors.items():
        of_moments = strip_settings_hash(name) == SECOND_MOMENTS
        sums = tensors.get(f"{name.partition('.')[0]}.sums") if of_moments else None
        if sums is not None and sums.dim() == 2 and second.shape == (triangle_size(sums.shape[1]),):
            yield second, sums.shape[1]


def testable(tensors: Mapping[str, Tensor], samples: int) -> str | None:
    """A warning before training, if a site has fewer images than the second moments have features."""
    for _, features in shared_seconds(tensors):
        if 0 < samples <= features:
            return f"{samples:,} images are fewer than the {features:,} features of the sums: {TESTABLE}"
    return None
