"""One class against all others, as medicine counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from mooring.errors import ConfigError, nearest
from mooring.intervals import Rate
from mooring.record.result import Metrics


@dataclass(frozen=True)
class PositiveClass:
    """Found where it is, not claimed where it is not.

    AUC is the chance that an image of it gets a higher share than an image of another class (Hanley and McNeil 1982).
    """

    label: str
    sensitivity: Rate
    specificity: Rate
    auc: float | None  # None: all images are of one kind, or an older record


def positive_label(classes: Sequence[str], positive: str | None = None) -> str | None:
    """The class that was named; without a name the second of two; None: no class is more than the others."""
    if positive is not None and positive not in classes:
        raise ConfigError([f"--positive {positive}: is no class of the model; {nearest(positive, classes)}"])
    return positive or (classes[1] if len(classes) == 2 else None)


def positive_class(metrics: Metrics, classes: Sequence[str], label: str) -> PositiveClass:
    """From the counts of the confusion: rows are true classes, columns what was said."""
    c, confusion = classes.index(label), metrics.confusion
    images, true, said = sum(map(sum, confusion)), sum(confusion[c]), sum(row[c] for row in confusion)
    hit = confusion[c][c]
    auc = metrics.per_class_auc[c] if metrics.per_class_auc else None
    return PositiveClass(label, Rate(hit, true), Rate(images - true - said + hit, images - true), auc)
