"""What leaves a site, in words: a sentence for every tensor, and what its numbers reveal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mooring.fusion import FUSIONS
from mooring.uploads import (
    IMAGES_BY_CLASS,
    NoisedMoments,
    Part,
    sentence_in,
    sentences_of,
)

UNKNOWN = "numbers that this version has no words for"


@dataclass(frozen=True)
class Explained:
    """Tensors that one sentence explains, and their bytes."""

    names: tuple[str, ...]
    sentence: str
    shapes: tuple[tuple[int, ...], ...]
    bytes: int


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
