"""How an accuracy is shown: the test images behind it, its 95 % interval, and the majority-class baseline."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from mooring.data import SOURCES, Source
from mooring.intervals import wilson
from mooring.record import METRICS, Metrics, PositiveClass, RunResult, positive_class, positive_label
from mooring.reports._table import Cell, Interval, Table, spread
from mooring.sweeps import SAME_ACCURACY, Difference, half_width
from mooring.wording import percent

INTERVAL = "95 % interval"


@dataclass(frozen=True)
class MajorityBaseline:
    """The accuracy of always predicting the most frequent class of the test images."""

    label: str  # empty if it is not known; then the share is 1 / C
    share: float

    @property
    def rule(self) -> str:
        return f"always {self.label!r}" if self.label else "always one class"

    def sentence(self, shown: Callable[[float], str] = percent) -> str:
        return f"The majority-class baseline ({self.rule}) reaches {shown(self.share)}."


def majority_baseline(metrics: Metrics, classes: Sequence[str]) -> MajorityBaseline | None:
    """From the class counts of the test images; 1 / C if they are not known."""
    if metrics.guess is not None:
        counts = [sum(row) for row in metrics.confusion]
        label = classes[counts.index(max(counts))] if len(classes) == len(counts) else ""
        return MajorityBaseline(label, metrics.guess)
    return MajorityBaseline("", 1 / len(classes)) if classes else None


def baseline_of(result: RunResult) -> MajorityBaseline | None:
    return majority_baseline(result.metrics, result.classes)


def baseline_sentence(result: RunResult, shown: Callable[[float], str] = percent) -> str:
    """Empty if the baseline is not known."""
    found = baseline_of(result)
    return found.sentence(shown) if found else ""


def accuracy_interval(values: Sequence[float], images: int | None) -> Interval | None:
    """Of one share by Wilson, over the images; of several by Student's t, over seeds. None if neither is possible.

    If all seeds have the same accuracy, Student's interval has no width: then too it is over the images.
    """
    many = len(values)
    half = half_width(stdev(values), many) if many > 1 else 0.0
    if half > SAME_ACCURACY:
        middle = fmean(values)
        return Interval(max(middle - half, 0.0), min(middle + half, 1.0), f"over {many} seeds")
    if not images or not values:
        return None
    low, high = wilson(round(values[0] * images), images)
    return Interval(low, high, f"over {images:,} images, {'one seed' if many == 1 else f'the same in {many} seeds'}")


def difference_interval(found: Difference) -> Interval | None:
    if found.low is None or found.high is None:
        return None
    return Interval(found.low, found.high, signed=True)


def metric_cells(found: Iterable[Metrics], images: int | None) -> dict[str, Cell]:
    """Every metric over the seeds of an experiment; accuracy with its interval."""
    found = list(found)
    cells: dict[str, Cell] = {}
    for name, metric in METRICS.items():
        values = [value for one in found if (value := metric.of(one)) is not None]
        cells[metric.title] = spread(values)
        if name == "accuracy":
            cells[INTERVAL] = accuracy_interval(values, images)
    return cells


def describe_test_images(result: RunResult) -> str:
    """`the official test set of svhn (26,032 images)`, or how the test images were chosen.

    A record has the number of images that were used, and not the number in the files: fewer than the official test
    set has may be a choice from it (`data.test_limit`) or all that a partial file holds.
    """
    many = result.test_images
    counted = f"{many:,} test images" if many else "test images"
    if result.origin is not None:
        return f"the {counted} of the log, as it says"
    facts = SOURCES.get(result.dataset or "", Source)
    if facts.official_test is None:
        return f"{counted}: {facts.test_part}"
    if many == facts.official_test:
        return f"the official test set of {result.dataset} ({many:,} images)"
    return f"{counted} of {result.dataset}; its official test set has {facts.official_test:,}"


def positive_class_of(result: RunResult, positive: str | None) -> PositiveClass | None:
    """The named class, or the second of two; None: the run has no such class, or its log has no counts."""
    classes, metrics = result.classes, result.metrics
    label = positive_label(classes) if positive is None else positive if positive in classes else None
    known = len(metrics.confusion) == len(classes)
    return positive_class(metrics, classes, label) if label is not None and known else None


def one_class_table(
    lines: Iterable[tuple[Mapping[str, Cell], Sequence[RunResult]]], positive: str | None
) -> tuple[Table, ...]:
    """One class against all others, as in medicine; no table if no class is the positive one."""
    rows, counts = [], {}
    for names, results in lines:
        found = [one for result in results if (one := positive_class_of(result, positive))]
        if found:
            rows.append({**names, **one_class_cells(found, results[0])})
            counts[f"{found[0].sensitivity.n:,} images of it and {found[0].specificity.n:,} of others"] = found[0].label
    note = (
        f"{'; '.join(f'of {label!r}: {images}' for images, label in counts.items())}. Sensitivity: found where it is; "
        "specificity: not claimed where it is not; AUC: the chance that an image of it gets a higher share than "
        "another, 0.5 by chance. Intervals as for accuracies: Student's t over n seeds, Wilson's for one run or equal "
        "seeds."
    )
    return (Table.from_rows("one-class", "One class against all others", rows, note),) if rows else ()


def one_class_cells(found: Sequence[PositiveClass], first: RunResult) -> dict[str, Cell]:
    """Over the seeds of an experiment."""
    once = sum(map(sum, first.metrics.confusion)) == first.test_images  # and not once for every client
    cells: dict[str, Cell] = {"class": found[0].label}
    for name in ("sensitivity", "specificity"):
        rates = [getattr(one, name) for one in found]
        shares = [rate.share for rate in rates if rate.share is not None]
        cells[name] = spread(shares)
        cells[f"{name} {INTERVAL}"] = accuracy_interval(shares, rates[0].n if once else None)
    areas = [one.auc for one in found if one.auc is not None]
    cells["AUC"] = spread(areas)
    if len(found) > 1:
        cells[f"AUC {INTERVAL}"] = accuracy_interval(areas, None)
    return cells | {"n": len(found)}
