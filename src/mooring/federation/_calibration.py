"""A calibration: what images that nobody trained on tell of a model's confidence, kept in a file beside the model.

It changes no model. The file names the model by its SHA-256 and is signed by whoever made it; it holds no image, no
path and no prediction, only the numbers below. What it says holds for images like those of its folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, inf, isfinite, log
from pathlib import Path
from typing import Annotated

import torch
from annotated_types import Ge, Gt, Le, Lt
from nacl.signing import SigningKey
from torch import Tensor

from mooring.errors import DataError, FederationError
from mooring.federation import _container as container
from mooring.federation._container import FileLimits
from mooring.federation._manifests import is_hex, manifest_as, without_control
from mooring.schema import Checked, Positive, record_tree
from mooring.wording import percent, plural

CALIBRATION = "calibration"
ENDING = ".calibration.mooring"
LIMITS = FileLimits(bytes=2**22, head_bytes=2**21)
COLDEST, HOTTEST = 1e-3, 1e3
LEVELS = 20  # shares of the images that are tried, from all of them down
CONFIDENCE = 0.95  # with which the error of the predictions that are made is below the one asked for
AGAIN = "make it again: mooring calibrate MODEL FOLDER"
LONGEST = 200  # letters of a folder's name
Share = Annotated[float, Ge(0), Le(1)]
Rate = Annotated[float, Gt(0), Lt(1)]


@dataclass(frozen=True)
class Targets(Checked):
    """What a calibration is asked for."""

    false_alarm: Rate = 0.05  # share of usual images that may be marked as unusual
    error: Rate | None = None  # of the predictions that are made; the model abstains from the others
    sensitivity: Rate | None = None  # of every class
    positive: str | None = None  # a class that is predicted whenever its threshold is reached


@dataclass(frozen=True)
class Calibration(Checked):
    """Thresholds of one model, from the images of one folder."""

    model: str  # SHA-256 of the head of its file
    folder: str  # name alone
    images_per_class: tuple[int, ...]
    temperature: Positive
    targets: Targets
    unusual: float | None = None  # an image above it is unusual; None: too few images, or the model cannot tell
    confidence: float | None = None  # below it the model abstains; None: never
    coverage: Share | None = None  # of the folder: predictions that are made
    thresholds: tuple[float | None, ...] = ()  # of each class, where it has enough images

    @property
    def images(self) -> int:
        return sum(self.images_per_class)

    def abstains(self, confidence: float) -> bool:
        """Is a prediction with this confidence not made?"""
        return self.confidence is not None and confidence < self.confidence

    def possible(self, shares: Tensor) -> list[int]:
        """Classes whose probability reaches their threshold, the likeliest first."""
        limits = enumerate(self.thresholds)
        reached = [c for c, limit in limits if limit is not None and float(shares[c]) >= limit]
        return sorted(reached, key=lambda c: -float(shares[c]))

    @property
    def words(self) -> str:
        """What it sets, and the data it holds for."""
        targets, set_ = self.targets, [f"temperature {self.temperature:.2f}"]
        if self.unusual is not None:
            set_.append(f"unusual above {self.unusual:.2f} (false alarms {percent(targets.false_alarm)})")
        if self.confidence is not None:
            rate = f"errors at most {percent(targets.error)}, answers {percent(self.coverage)}"
            set_.append(f"abstains below {self.confidence:.3f} ({rate})")
        if targets.sensitivity is not None:
            set_.append(f"thresholds for sensitivity {percent(targets.sensitivity)}")
        return f"calibrated on {plural(self.images, 'image')} of {self.folder}, and valid for images like these: " + (
            ", ".join(set_)
        )


def calibrated(
    model: str,
    folder: str,
    classes: Sequence[str],
    scores: Tensor,  # (N, C)
    labels: Tensor,  # (N,)
    unusual: Tensor | None,  # (N,), how unusual each image is
    targets: Targets,
) -> Calibration:
    """All thresholds. Every one holds for new images like these; none is fitted to them beyond its rank."""
    counts = torch.bincount(labels, minlength=len(classes)).tolist()
    temperature = temperature_for(scores, labels)
    shares = (scores.double() / temperature).softmax(1)
    confidence, coverage = (None, None)
    if targets.error is not None:
        confidence, coverage = abstention(shares.amax(1), shares.argmax(1) == labels, targets.error)
        if confidence is None:
            raise DataError(
                f"{folder}: {plural(len(labels), 'image')} do not show that any of the predictions have an error rate "
                f"below {targets.error:g}",
                "add images, or ask for a higher --error",
            )
    thresholds: tuple[float | None, ...] = ()
    if targets.sensitivity is not None:
        own = [shares[labels == c, c] for c in range(len(classes))]
        thresholds = tuple(lower_threshold(values, 1 - targets.sensitivity) for values in own)
        if targets.positive is not None and thresholds[classes.index(targets.positive)] is None:
            needed = ceil(1 / (1 - targets.sensitivity)) - 1
            number = counts[classes.index(targets.positive)]
            raise DataError(
                f"{folder}: {plural(number, 'image')} of {targets.positive}, and a sensitivity of "
                f"{targets.sensitivity:g} needs at least {needed}",
                "add images, or ask for a lower --sensitivity",
            )
    most = None if unusual is None else upper_threshold(unusual, targets.false_alarm)
    return Calibration(model, folder, tuple(counts), temperature, targets, most, confidence, coverage, thresholds)


def temperature_for(scores: Tensor, labels: Tensor) -> float:
    """argmin over T of the negative log-likelihood of all images + (log T)^2: where none is wrong, T stays sane."""
    from scipy.optimize import minimize_scalar  # here: every start would pay for it

    scores = scores.double()

    def loss(log_temperature: float) -> float:
        likelihood = (scores * exp(-log_temperature)).log_softmax(1).gather(1, labels[:, None]).sum()
        return log_temperature**2 - float(likelihood)

    found = minimize_scalar(loss, bounds=(log(COLDEST), log(HOTTEST)), method="bounded")
    return exp(float(found.x))


def upper_threshold(values: Tensor, rate: float) -> float | None:
    """The smallest value t with P(a new value > t) <= rate: rank ceil((n + 1)(1 - rate)); None if n is too small.

    It holds for values drawn alike, whatever their distribution (split conformal: Vovk et al. 2005).
    """
    rank = ceil((len(values) + 1) * (1 - rate))
    return float(values.sort().values[rank - 1]) if rank <= len(values) else None


def lower_threshold(values: Tensor, rate: float) -> float | None:
    """The largest value t with P(a new value < t) <= rate: rank floor((n + 1) rate)."""
    rank = floor((len(values) + 1) * rate)
    return float(values.sort().values[rank - 1]) if rank >= 1 else None


def abstention(confidence: Tensor, hit: Tensor, error: float) -> tuple[float | None, float]:
    """The lowest confidence at which errors above it are surely rare enough, and the share of images above it.

    Of LEVELS shares of the images, those of the highest confidence first, the largest at which a binomial test rejects
    an error rate above `error`, at the level (1 - CONFIDENCE) / LEVELS: with probability CONFIDENCE the error of new
    predictions is below it (union bound; learn then test: Angelopoulos et al. 2021).
    """
    from scipy.stats import binom  # here: every start would pay for it

    order = confidence.argsort(descending=True)
    wrong = (~hit[order]).cumsum(0)
    for level in range(LEVELS, 0, -1):
        answered = len(order) * level // LEVELS
        if answered and binom.cdf(int(wrong[answered - 1]), answered, error) <= (1 - CONFIDENCE) / LEVELS:
            return float(confidence[order[answered - 1]]), answered / len(order)
    return None, 0.0


def calibration_file(model: Path) -> Path:
    """Beside the model: `model.mooring` -> `model.calibration.mooring`."""
    return model.with_name(model.stem + ENDING)


def encode_calibration(found: Calibration, key: SigningKey | None) -> bytes:
    return container.encode(CALIBRATION, record_tree(found), key=key)


def calibration_beside(model: Path, sha256: str, classes: Sequence[str]) -> Calibration | None:
    """The calibration of this very model, if there is one; that of another model is an error."""
    path = calibration_file(model)
    if not path.exists():
        return None
    file = container.read_container(path, CALIBRATION, LIMITS)
    found = manifest_as(Calibration, file.manifest, str(path), AGAIN)
    if not believable(found, classes):
        raise FederationError(f"{path}: holds numbers that no calibration has", AGAIN)
    if found.model != sha256:
        raise FederationError(f"{path}: is of another model", f"remove it, or {AGAIN}")
    return found


def believable(found: Calibration, classes: Sequence[str]) -> bool:
    limits = [found.unusual, found.confidence, *found.thresholds]
    return (
        is_hex(found.model, 64)
        and without_control(found.folder)
        and len(found.folder) <= LONGEST
        and len(found.images_per_class) == len(classes)
        and min(found.images_per_class) >= 0
        and len(found.thresholds) in (0, len(classes))
        and found.targets.positive in (None, *classes)
        and all(value is None or (isfinite(value) and 0 <= value < inf) for value in limits)
    )
