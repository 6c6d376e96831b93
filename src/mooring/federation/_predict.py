"""What a model says of image files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from mooring.data import ImageBytes
from mooring.federation._calibration import Calibration
from mooring.federation._image_files import ScoredFile, found, scored, scored_image
from mooring.federation._look import unusualness
from mooring.federation._model_file import ModelFile
from mooring.fusion import Confidence
from mooring.intervals import Rate


@dataclass(frozen=True)
class Guess:
    """A class, and the soft-max of its score."""

    label: str
    confidence: float


@dataclass(frozen=True)
class ClassDistance:
    """How far an image is from the mean of a class's training images: 1 is usual for its own class."""

    label: str
    distance: float


@dataclass(frozen=True)
class Prediction:
    """All classes of one file: the one that is predicted, then the likeliest first."""

    file: Path
    guesses: tuple[Guess, ...]
    nearest: tuple[ClassDistance, ...] = ()  # the nearest class first; nothing where the model cannot tell
    unusualness: float | None = None  # 1 is usual; None: the model cannot tell
    unusual: bool | None = None  # above the threshold; None: there is no threshold
    abstained: bool = False  # too unsure for the error rate that was asked for
    possible: tuple[str, ...] = ()  # classes that reach their thresholds, where there are some

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before using this prediction, in words."""
        far = f"unusual ({self.unusualness:.2f})" if self.unusual and self.unusualness is not None else ""
        return tuple(filter(None, (far, "abstains" if self.abstained else "")))

    @property
    def first(self) -> Guess:
        return self.guesses[0]

    @property
    def second(self) -> Guess | None:
        return self.guesses[1] if len(self.guesses) > 1 else None


@dataclass(frozen=True)
class Unreadable:
    """A file that is no image, and what is wrong with it."""

    file: Path
    problem: str


@dataclass(frozen=True)
class Predictions:
    """What a model said of some files; `confidence` is what its numbers are called."""

    confidence: Confidence
    rows: tuple[Prediction | Unreadable, ...]  # in the order of the files
    ignored: Counter[str] = field(default_factory=Counter)  # files in folders that are no images, by their ending
    limits: tuple[str, ...] = ()  # of the model, and the data that they hold for

    @property
    def read(self) -> list[Prediction]:
        return [row for row in self.rows if isinstance(row, Prediction)]

    @property
    def marked(self) -> Rate | None:
        """Those marked as unusual, of those that could be; None where the model has no threshold."""
        known = [row.unusual for row in self.read if row.unusual is not None]
        return Rate(sum(known), len(known)) if known else None

    @property
    def unreadable(self) -> list[Unreadable]:
        return [row for row in self.rows if isinstance(row, Unreadable)]


def prediction_tree(row: Prediction, confidence: Confidence) -> dict[str, object]:
    """As JSON has it: the class, its share, those of all classes, and what to know before using it."""
    return {
        "class": row.first.label,
        confidence: row.first.confidence,
        "all": {guess.label: guess.confidence for guess in row.guesses},
        "warnings": list(row.warnings),
        "unusualness": row.unusualness,
        "unusual": row.unusual,
        "abstained": row.abstained,
        "possible": list(row.possible),
        "nearest": {near.label: near.distance for near in row.nearest},
    }


def predict(model: ModelFile, paths: Sequence[Path]) -> Predictions:
    """One row for every file named and every image below a folder named."""
    files, ignored = found(paths)
    rows = tuple(prediction_of(row, model) for row in scored(model, files))
    return Predictions(model.confidence, rows, ignored, model.limits)


def predict_image(model: ModelFile, image: ImageBytes, max_pixels: int) -> Prediction | Unreadable:
    """The same for an image that came over a connection."""
    return prediction_of(scored_image(model, image, max_pixels), model)


def prediction_of(row: ScoredFile, model: ModelFile) -> Prediction | Unreadable:
    if row.scores is None:
        return Unreadable(row.path, row.problem)
    return judged(model, row.path, row.scores, row.distances)


def judged(model: ModelFile, file: Path, scores: Tensor, distances: Tensor | None) -> Prediction:
    """What the model says of an image with these scores (C,) and distances (C seen,), within the limits it knows."""
    own, classes = model.calibration, model.classes
    shares = (scores.double() / (1.0 if own is None else own.temperature)).softmax(0)
    order = shares.argsort(descending=True, stable=True).tolist()
    if own is not None:
        order = operating_order(order, shares, own, classes)
    near: tuple[ClassDistance, ...] = ()
    if distances is not None and model.typical is not None:
        by_distance = zip(distances.tolist(), model.typical.classes.tolist(), strict=True)
        near = tuple(ClassDistance(classes[c], distance) for distance, c in sorted(by_distance))
    how = None if distances is None else unusualness(scores, distances)
    return Prediction(
        file,
        tuple(Guess(classes[c], float(shares[c])) for c in order),
        near,
        how,
        None if own is None or own.unusual is None or how is None else how > own.unusual,
        own is not None and own.abstains(float(shares.amax())),
        () if own is None else tuple(classes[c] for c in own.possible(shares)),
    )


def operating_order(order: list[int], shares: Tensor, own: Calibration, classes: Sequence[str]) -> list[int]:
    """The positive class comes first whenever it reaches its threshold, and never otherwise."""
    if own.targets.positive is None:
        return order
    positive = classes.index(own.targets.positive)
    others = [c for c in order if c != positive]
    claimed = positive in own.possible(shares)
    return [positive, *others] if claimed else [others[0], positive, *others[1:]] if others else order
