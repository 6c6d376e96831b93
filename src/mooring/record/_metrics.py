"""How good a predictor is: the recorded metrics, the columns that every table of results has, and one class against all
others, as medicine counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mooring.errors import ConfigError, nearest
from mooring.intervals import Rate
from mooring.wording import percent


@dataclass(frozen=True)
class Metrics:
    """How good a predictor is on the test images; None or empty if it is not known."""

    accuracy: float
    balanced_accuracy: float | None = None
    macro_f1: float | None = None
    calibration_error: float | None = None
    per_class_accuracy: tuple[float | None, ...] = field(default=(), repr=False)  # None: no test image of that class
    confusion: tuple[tuple[int, ...], ...] = field(default=(), repr=False)  # row: true class, column: predicted class
    per_class_auc: tuple[float | None, ...] = field(
        default=(), repr=False
    )  # against all others; None: no image of the class, or no other

    @property
    def guess(self) -> float | None:
        """The majority-class baseline: the share of the most frequent class; None if the class counts are not known."""
        counts = [sum(row) for row in self.confusion]
        return max(counts) / sum(counts) if sum(counts) else None


@dataclass(frozen=True)
class OwnLabels:
    """Accuracy on the label distribution of each site, as the mean over the sites that hold images."""

    fused: float
    personalised: float
    sites: int

    @property
    def words(self) -> str:
        """On each site's own label distribution, mean of 5 sites: 69.5 %, personalised 88.3 %"""
        shares = f"{percent(self.fused)}, personalised {percent(self.personalised)}"
        return f"On each site's own label distribution, mean of {self.sites:,} sites: {shares}"


@dataclass(frozen=True)
class TrainingGain:
    """Accuracy of the two parts of `trained-and-sums`, each alone."""

    sums: float
    trained: float

    def words(self, both: float) -> str:
        """Sums alone 66.9 %, trained networks alone 45.7 %: training added 2.1 points"""
        alone = f"Sums alone {percent(self.sums)}, trained networks alone {percent(self.trained)}"
        points = 100 * (both - self.sums)
        return f"{alone}: training {'added' if points >= 0 else 'cost'} {abs(points):.1f} points"


@dataclass(frozen=True)
class Metric:
    """A column of every table of results: its title, its value, and which direction is better."""

    title: str
    of: Callable[[Metrics], float | None]
    better: Literal["higher", "lower"] = "higher"


METRICS: Mapping[str, Metric] = {  # the key is the name in CSV files and dashboards
    "accuracy": Metric("accuracy", lambda found: found.accuracy),
    "balanced_accuracy": Metric("balanced", lambda found: found.balanced_accuracy),
    "macro_f1": Metric("macro F1", lambda found: found.macro_f1),
    "calibration_error": Metric("ECE", lambda found: found.calibration_error, better="lower"),
}


def metric_values(metrics: Metrics | None) -> dict[str, float | None]:
    """Every metric by its name; without a result, none is known."""
    return {name: None if metrics is None else metric.of(metrics) for name, metric in METRICS.items()}


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
    """The named class, or by default the second of two; None if there is no positive class."""
    if positive is not None and positive not in classes:
        raise ConfigError([f"--positive {positive}: is not a class of the model; {nearest(positive, classes)}"])
    return positive or (classes[1] if len(classes) == 2 else None)


def positive_class(metrics: Metrics, classes: Sequence[str], label: str) -> PositiveClass:
    """From the counts of the confusion: rows are true classes, columns what was said."""
    c, confusion = classes.index(label), metrics.confusion
    images, true, said = sum(map(sum, confusion)), sum(confusion[c]), sum(row[c] for row in confusion)
    hit = confusion[c][c]
    auc = metrics.per_class_auc[c] if metrics.per_class_auc else None
    return PositiveClass(label, Rate(hit, true), Rate(images - true - said + hit, images - true), auc)
