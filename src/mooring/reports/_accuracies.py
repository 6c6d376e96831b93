"""An accuracy with all that it takes not to be misread: on which images, how many, how sure, and against what."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from mooring.data import SOURCES, Source
from mooring.intervals import wilson
from mooring.record import Metrics, PositiveClass, positive_class, positive_label
from mooring.reports._report_data import Run, SeedGroup
from mooring.sweep import NO_SPREAD, interval


@dataclass(frozen=True)
class MajorityBaseline:
    """Always saying the most frequent class of the test images."""

    label: str
    share: float


@dataclass(frozen=True)
class Sureness:
    """The 95 % interval of an accuracy, and what it is over."""

    low: float
    high: float
    over: str  # `over 3 seeds`, or over images


def mean_accuracy(group: SeedGroup) -> float:
    return fmean(run.result.accuracy for run in group.runs)


def sureness(group: SeedGroup) -> Sureness | None:
    """Of the accuracy of an experiment."""
    return sure_of([run.result.accuracy for run in group.runs], group.first.result.test_images)


def sure_of(values: Sequence[float], images: int | None) -> Sureness | None:
    """Of one share by Wilson, over so many images; of several by Student's t, over seeds. None: nobody knows.

    Seeds that change nothing would have an interval of no width: then too it is over the images.
    """
    many = len(values)
    half = interval(stdev(values), many) if many > 1 else 0.0
    if half > NO_SPREAD:
        middle = fmean(values)
        return Sureness(max(middle - half, 0.0), min(middle + half, 1.0), f"over {many} seeds")
    if not images or not values:
        return None
    low, high = wilson(round(values[0] * images), images)
    return Sureness(low, high, f"over {images:,} images, {'one seed' if many == 1 else f'the same in {many} seeds'}")


def looked_at(run: Run, positive: str | None) -> PositiveClass | None:
    """The class that was named, or the second of two; None: the run has no such class, or its log counts none."""
    label = positive_label(run.classes) if positive is None else positive if positive in run.classes else None
    known = len(run.result.metrics.confusion) == len(run.classes)
    return positive_class(run.result.metrics, run.classes, label) if label is not None and known else None


def guess(run: Run) -> MajorityBaseline | None:
    """What the class counts of the test images say; without them, one of C."""
    return guess_of(run.result.metrics, run.classes)


def guess_of(metrics: Metrics, classes: Sequence[str]) -> MajorityBaseline | None:
    """The same for whoever has no run at hand."""
    if metrics.guess is not None and len(metrics.confusion) == len(classes):
        counts = [sum(row) for row in metrics.confusion]
        return MajorityBaseline(classes[counts.index(max(counts))], metrics.guess)
    return MajorityBaseline("", 1 / len(classes)) if classes else None


def images(run: Run) -> str:
    """`the official test set of svhn (26,032 images)`; other images are called what they are."""
    many = run.result.test_images
    counted = f"{many:,} test images" if many else "test images"
    if run.result.origin is not None:
        return f"the {counted} of the log, as it says"
    return tested_on(str(run.tree.get("data", {}).get("source", "")), many)


def tested_on(source: str, many: int | None) -> str:
    """The same for any source of images.

    A record has the number of images that were used, and not the number in the files: fewer than the official test
    set has may be a choice from it (`data.test_limit`) or all that a partial file holds.
    """
    facts = SOURCES.get(source, Source)
    counted = f"{many:,} test images" if many else "test images"
    if facts.official_test is None:
        return f"{counted}: {facts.test_part}"
    if many == facts.official_test:
        return f"the official test set of {source} ({many:,} images)"
    return f"{counted} of {source}; its official test set has {facts.official_test:,}"
