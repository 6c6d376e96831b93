"""How good a model is on images of one's own: counts, intervals, and what a plain guess would reach."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from mooring.errors import DataError
from mooring.evaluate import measure
from mooring.federation._image_files import LabelledFile, ScoredFile, labelled_files, scored
from mooring.federation._model_file import ModelFile
from mooring.federation._predict import Prediction, Unreadable, prediction_of
from mooring.intervals import Rate
from mooring.record import PositiveClass, positive_class, positive_label
from mooring.wording import percent, percent_range, plural

EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)  # of the confidence


@dataclass(frozen=True)
class ClassResult:
    """One class: how many of its images were found, and how many of those called so are of it."""

    label: str
    found: Rate
    precision: Rate


@dataclass(frozen=True)
class ConfidenceBin:
    """Predictions with a confidence in [low, high): how often they should be right, and are."""

    low: float
    high: float
    confidence: float  # their mean
    right: Rate


@dataclass(frozen=True)
class SiteResult:
    site: str
    right: Rate


@dataclass(frozen=True)
class WithinLimits:
    """What the limits of a model do to these images."""

    answered: Rate  # images that it did not abstain from
    right: Rate  # of the answered
    unusual: Rate | None = None  # marked; None: there is no threshold
    sensitivity: Rate | None = None  # of the positive class at its threshold
    specificity: Rate | None = None
    same_folder: bool = False  # as that of the calibration, as far as its name and size tell


@dataclass(frozen=True)
class Assessment:
    """All that was counted on the images of a folder."""

    folder: str  # its name alone: pages are passed on, and a path is nobody else's business
    right: Rate
    majority: str  # the class that most of the images are of
    chance: Rate  # always saying so
    classes: tuple[ClassResult, ...]
    sites: tuple[SiteResult, ...]
    confusion: tuple[tuple[int, ...], ...]  # row: true class, column: predicted class
    positive: PositiveClass | None = None
    calibration_error: float | None = None  # None: the model gives scores, not probabilities
    unreadable: tuple[Unreadable, ...] = ()
    trained: int = 0  # of the images: files that the model's run is known to train on
    limits: tuple[str, ...] = ()  # of the model, and the data that they hold for
    within: WithinLimits | None = None  # None: the model is not calibrated
    bins: tuple[ConfidenceBin, ...] = ()  # that hold a prediction; none if the model gives scores

    @property
    def words(self) -> str:
        """45 images of held_out, 38 right (84.4 %), 95 % interval 71.2-92.3 %"""
        accuracy = f"{self.right.right:,} right ({percent(self.right.share)})"
        interval = f"95 % interval {percent_range(self.right.interval)}"
        return f"{plural(self.right.n, 'image')} of {self.folder}, {accuracy}, {interval}"

    @property
    def for_new_images(self) -> str:
        """What that says of images the model has not seen: whether these are such, only their owner can know."""
        if self.trained:
            known = f"{self.trained:,} of the {self.right.n:,} images are among those that its run trains on"
            return f"{known}: this does not tell how good it is on new ones"
        return "this holds for new images only if no site trained on these"

    @property
    def against_chance(self) -> str:
        """What a plain guess would reach, and whether the model is surely better."""
        low = self.right.interval[0] if self.right.interval else 0.0
        sure = low > (self.chance.share or 0.0)
        verdict = "the model is better" if sure else "that the model is better is not shown by so few images"
        return f"always saying {self.majority!r} would be right for {percent(self.chance.share)}: {verdict}"


def assessment_tree(found: Assessment) -> dict[str, object]:
    """As JSON has it: every rate with its share and interval."""
    positive = found.positive
    return {
        "words": found.words,
        "for_new_images": found.for_new_images,
        "images": found.right.n,
        "trained_on": found.trained,
        "accuracy": rate_tree(found.right),
        "chance": {"always": found.majority, **rate_tree(found.chance)},
        "calibration_error": found.calibration_error,
        "by_confidence": [
            {"from": row.low, "to": row.high, "mean": row.confidence, **rate_tree(row.right)} for row in found.bins
        ],
        "classes": [
            {"class": row.label, "found": rate_tree(row.found), "precision": rate_tree(row.precision)}
            for row in found.classes
        ],
        "sites": [{"site": row.site, **rate_tree(row.right)} for row in found.sites],
        "confusion": found.confusion,
        "positive": None
        if positive is None
        else {
            "class": positive.label,
            "sensitivity": rate_tree(positive.sensitivity),
            "specificity": rate_tree(positive.specificity),
            "auc": positive.auc,
        },
        "limits": found.limits,
        "within_limits": None
        if found.within is None
        else {
            name: rate_tree(rate)
            for name in ("answered", "right", "unusual", "sensitivity", "specificity")
            if (rate := getattr(found.within, name)) is not None
        },
        "unreadable": [{"file": str(row.file), "problem": row.problem} for row in found.unreadable],
    }


def rate_tree(rate: Rate) -> dict[str, object]:
    return {"right": rate.right, "n": rate.n, "share": rate.share, "interval_95": rate.interval}


def assess(
    model: ModelFile, root: Path, positive: str | None = None, trained: Collection[Path] = frozenset()
) -> Assessment:
    """A model on the images of a folder: root/<class>/ or root/<site>/<class>/. `trained`: what it was trained on."""
    wanted = positive_label(model.classes, positive)
    files = labelled_files(root, model.classes)
    rows = list(scored(model, [file.path for file in files]))
    unreadable = tuple(Unreadable(row.path, row.problem) for row in rows if row.scores is None)
    kept = [file for file, row in zip(files, rows, strict=True) if row.scores is not None]
    if not kept:
        raise DataError(f"{root}: none of {len(files)} images can be read", "name other images")
    scores = torch.stack([row.scores for row in rows if row.scores is not None])
    own = model.calibration
    if own is not None:
        scores = scores / own.temperature
    seen = sum(file.path.resolve() in trained for file in kept) if trained else 0
    found = assess_scores(model, root, scores, kept, wanted)
    within = None
    if own is not None:
        same = (own.folder, own.images) == (found.folder, len(kept))
        within = within_limits(model, [row for row in rows if row.scores is not None], kept, same)
    return replace(found, unreadable=unreadable, trained=seen, limits=model.limits, within=within)


def within_limits(
    model: ModelFile, rows: Sequence[ScoredFile], files: Sequence[LabelledFile], same: bool
) -> WithinLimits:
    """Predictions as `predict` makes them, counted."""
    predictions = [row for row in (prediction_of(row, model) for row in rows) if isinstance(row, Prediction)]
    truth = [model.classes[file.label] for file in files]
    answered = [(row.first.label == label) for row, label in zip(predictions, truth, strict=True) if not row.abstained]
    marked = [row.unusual for row in predictions if row.unusual is not None]
    positive = None if model.calibration is None else model.calibration.targets.positive
    called = [(row.first.label == positive, label == positive) for row, label in zip(predictions, truth, strict=True)]
    ill, well = ([claim for claim, true in called if true is wanted] for wanted in (True, False))
    return WithinLimits(
        Rate(len(answered), len(predictions)),
        Rate(sum(answered), len(answered)),
        Rate(sum(marked), len(marked)) if marked else None,
        None if positive is None else Rate(sum(ill), len(ill)),
        None if positive is None else Rate(len(well) - sum(well), len(well)),
        same,
    )


def assess_scores(
    model: ModelFile,
    root: Path,
    scores: Tensor,  # (N, C)
    files: Sequence[LabelledFile],
    positive: str | None,
) -> Assessment:
    names, labels = model.classes, torch.tensor([file.label for file in files])
    found = measure(scores, labels)
    hit = scores.argmax(1) == labels
    actual = [sum(line) for line in found.confusion]
    commonest = actual.index(max(actual))
    return Assessment(
        root.resolve().name or str(root),
        Rate(int(hit.sum()), len(hit)),
        names[commonest],
        Rate(actual[commonest], len(hit)),
        class_results(found.confusion, names),
        by_site(hit, [file.site for file in files]),
        found.confusion,
        None if positive is None else positive_class(found, names, positive),
        found.calibration_error if model.confidence == "probability" else None,
        bins=confidence_bins(scores, hit) if model.confidence == "probability" else (),
    )


def class_results(confusion: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[ClassResult, ...]:
    """From a row for each true class and a column for each predicted one."""
    actual, claimed = ([sum(line) for line in lines] for lines in (confusion, zip(*confusion, strict=True)))
    return tuple(
        ClassResult(name, *(Rate(confusion[c][c], counts[c]) for counts in (actual, claimed)))
        for c, name in enumerate(names)
    )


def confidence_bins(scores: Tensor, hit: Tensor) -> tuple[ConfidenceBin, ...]:
    confidence = scores.double().softmax(1).amax(1)
    found = []
    for low, high in pairwise(EDGES):
        within = (confidence >= low) & ((confidence < high) | (high == EDGES[-1]))
        if count := int(within.sum()):
            mean = float(confidence[within].mean())
            found.append(ConfidenceBin(low, high, mean, Rate(int(hit[within].sum()), count)))
    return tuple(found)


def by_site(hit: Tensor, sites: Sequence[str | None]) -> tuple[SiteResult, ...]:
    """Every site that a folder names."""
    named = sorted({site for site in sites if site is not None})
    own = {name: [i for i, site in enumerate(sites) if site == name] for name in named}
    return tuple(SiteResult(name, Rate(int(hit[rows].sum()), len(rows))) for name, rows in own.items())
