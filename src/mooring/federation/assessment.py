"""How good a model is on images of one's own: counts, intervals, and what a plain guess would reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path

import torch
from torch import Tensor

from mooring.errors import ConfigError, DataError, nearest
from mooring.evaluate import calibration_error
from mooring.federation.image_files import LabelledFile, labelled, scored
from mooring.federation.model_file import ModelFile
from mooring.federation.predict import Unreadable
from mooring.intervals import wilson


@dataclass(frozen=True)
class Rate:
    """`right` of `n`, and the interval that holds the true share in 95 of 100 such tests."""

    right: int
    n: int

    @property
    def share(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.right, self.n) if self.n else None

    @property
    def percent(self) -> str:
        return "-" if self.share is None else f"{100 * self.share:.0f} %"

    @property
    def interval_words(self) -> str:
        """Rounded outward: 71-93 %"""
        return "-" if self.interval is None else f"{floor(100 * self.interval[0])}-{ceil(100 * self.interval[1])} %"


@dataclass(frozen=True)
class ClassResult:
    """One class: how many of its images were found, and how many of those called so are of it."""

    label: str
    found: Rate
    precision: Rate


@dataclass(frozen=True)
class SiteResult:
    site: str
    right: Rate


@dataclass(frozen=True)
class PositiveResult:
    """One class against all others, as medicine counts: found where it is, not claimed where it is not.

    AUC is the chance that an image of it gets a higher share than an image of another class (Hanley and McNeil 1982).
    """

    label: str
    sensitivity: Rate
    specificity: Rate
    auc: float | None  # None: all images are of one kind


@dataclass(frozen=True)
class Assessment:
    """All that was counted on some held-out images."""

    right: Rate
    majority: str  # the class that most of the images are of
    chance: Rate  # always saying so
    classes: tuple[ClassResult, ...]
    sites: tuple[SiteResult, ...]
    confusion: tuple[tuple[int, ...], ...]  # row: true class, column: predicted class
    positive: PositiveResult | None = None
    calibration_error: float | None = None  # None: the model gives scores, not probabilities
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def words(self) -> str:
        """45 held-out images, 38 right (84 %), 95 % interval 71-93 %"""
        images = "1 held-out image" if self.right.n == 1 else f"{self.right.n:,} held-out images"
        told = f"{self.right.right:,} right ({self.right.percent}), 95 % interval {self.right.interval_words}"
        return f"{images}, {told}"

    @property
    def against_chance(self) -> str:
        """What a plain guess would reach, and whether the model is surely better."""
        low = self.right.interval[0] if self.right.interval else 0.0
        sure = low > (self.chance.share or 0.0)
        verdict = "the model is better" if sure else "that the model is better is not shown by so few images"
        return f"always saying {self.majority!r} would be right for {self.chance.percent}: {verdict}"


def as_told(found: Assessment) -> dict[str, object]:
    """As JSON has it: every rate with its share and interval."""
    positive = found.positive
    return {
        "words": found.words,
        "images": found.right.n,
        "accuracy": rate_told(found.right),
        "chance": {"always": found.majority, **rate_told(found.chance)},
        "calibration_error": found.calibration_error,
        "classes": [
            {"class": row.label, "found": rate_told(row.found), "precision": rate_told(row.precision)}
            for row in found.classes
        ],
        "sites": [{"site": row.site, **rate_told(row.right)} for row in found.sites],
        "confusion": found.confusion,
        "positive": None
        if positive is None
        else {
            "class": positive.label,
            "sensitivity": rate_told(positive.sensitivity),
            "specificity": rate_told(positive.specificity),
            "auc": positive.auc,
        },
        "unreadable": [{"file": str(row.file), "problem": row.problem} for row in found.unreadable],
    }


def rate_told(rate: Rate) -> dict[str, object]:
    return {"right": rate.right, "n": rate.n, "share": rate.share, "interval_95": rate.interval}


def assess(model: ModelFile, root: Path, positive: str | None = None) -> Assessment:
    """A model on the images of a folder: root/<class>/ or root/<site>/<class>/."""
    if positive is not None and positive not in model.classes:
        raise ConfigError([f"--positive {positive}: is no class of the model; {nearest(positive, model.classes)}"])
    files = labelled(root, model.classes)
    rows = list(scored(model, [file.path for file in files]))
    unreadable = tuple(Unreadable(row.path, row.problem) for row in rows if row.scores is None)
    kept = [file for file, row in zip(files, rows, strict=True) if row.scores is not None]
    if not kept:
        raise DataError(f"{root}: none of {len(files)} images can be read", "name other images")
    scores = torch.stack([row.scores for row in rows if row.scores is not None])
    return counted(model, scores, kept, positive, unreadable)


def counted(
    model: ModelFile,
    scores: Tensor,  # (N, C)
    files: Sequence[LabelledFile],
    positive: str | None,
    unreadable: tuple[Unreadable, ...] = (),
) -> Assessment:
    names, labels = model.classes, torch.tensor([file.label for file in files])
    predicted = scores.argmax(1)
    hit = predicted == labels
    many = len(names)
    confusion = torch.bincount(labels * many + predicted, minlength=many**2).view(many, many)
    actual, claimed, right = confusion.sum(1), confusion.sum(0), confusion.diag()
    commonest = int(actual.argmax())
    wanted = positive or (names[-1] if many == 2 else None)
    return Assessment(
        Rate(int(hit.sum()), len(hit)),
        names[commonest],
        Rate(int(actual[commonest]), len(hit)),
        tuple(
            ClassResult(name, Rate(int(right[c]), int(actual[c])), Rate(int(right[c]), int(claimed[c])))
            for c, name in enumerate(names)
        ),
        by_site(hit, [file.site for file in files]),
        tuple(map(tuple, confusion.tolist())),
        None if wanted is None else positive_result(wanted, scores, labels, names),
        calibration_error(scores, hit) if model.confidence == "probability" else None,
        unreadable,
    )


def by_site(hit: Tensor, sites: Sequence[str | None]) -> tuple[SiteResult, ...]:
    """Every site that a folder names."""
    named = sorted({site for site in sites if site is not None})
    own = {name: [i for i, site in enumerate(sites) if site == name] for name in named}
    return tuple(SiteResult(name, Rate(int(hit[rows].sum()), len(rows))) for name, rows in own.items())


def positive_result(label: str, scores: Tensor, labels: Tensor, names: Sequence[str]) -> PositiveResult:
    c = names.index(label)
    true, said = labels == c, scores.argmax(1) == c
    return PositiveResult(
        label,
        Rate(int((true & said).sum()), int(true.sum())),
        Rate(int((~true & ~said).sum()), int((~true).sum())),
        auc(log_odds(scores.double(), c), true),
    )


def log_odds(scores: Tensor, c: int) -> Tensor:
    """log p_c / (1 - p_c) of the soft-max, in the order of p_c and without its rounding to 1; (N,)"""
    others = torch.cat([scores[:, :c], scores[:, c + 1 :]], 1)
    return scores[:, c] - others.logsumexp(1)


def auc(values: Tensor, true: Tensor) -> float | None:
    """P(value of a positive > value of a negative) + 1/2 P(equal), from ranks (Mann and Whitney 1947)."""
    positives, negatives = int(true.sum()), int((~true).sum())
    if not positives or not negatives:
        return None
    _, place, count = values.unique(return_inverse=True, return_counts=True)  # in rising order
    last = count.cumsum(0).double()
    ranks = (last - (count.double() - 1) / 2)[place]  # equal values share the mean of their ranks
    return float((ranks[true].sum() - positives * (positives + 1) / 2) / (positives * negatives))
