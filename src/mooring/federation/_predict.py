"""What a model says of image files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mooring.federation._image_files import ScoredFile, found, scored
from mooring.federation._model_file import ModelFile
from mooring.fusion import Confidence


@dataclass(frozen=True)
class Guess:
    """A class, and the soft-max of its score."""

    label: str
    confidence: float


@dataclass(frozen=True)
class Prediction:
    """All classes of one file, the likeliest first."""

    file: Path
    guesses: tuple[Guess, ...]
    distance: float | None = None  # from the training images, 1 for a typical one; None: the model cannot tell
    unusual: bool | None = None  # farther than the threshold; None: there is no threshold
    abstained: bool = False  # too unsure for the error rate that was asked for

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before using this prediction, in words."""
        unusual = f"unusual: {self.distance:.1f} times as far from the training images as they are"
        return (
            *([unusual] if self.unusual and self.distance is not None else []),
            *(["unsure: the model abstains"] if self.abstained else []),
        )

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

    @property
    def read(self) -> list[Prediction]:
        return [row for row in self.rows if isinstance(row, Prediction)]

    @property
    def unreadable(self) -> list[Unreadable]:
        return [row for row in self.rows if isinstance(row, Unreadable)]


def predict(model: ModelFile, paths: Sequence[Path]) -> Predictions:
    """One row for every file named and every image below a folder named."""
    files, ignored = found(paths)
    rows = tuple(prediction_of(row, model.classes) for row in scored(model, files))
    return Predictions(model.confidence, rows, ignored)


def prediction_of(row: ScoredFile, classes: Sequence[str]) -> Prediction | Unreadable:
    if row.scores is None:
        return Unreadable(row.path, row.problem)
    shares = row.scores.double().softmax(0)
    order = shares.argsort(descending=True, stable=True).tolist()
    return Prediction(row.path, tuple(Guess(classes[c], float(shares[c])) for c in order))
