"""Why a prediction: which parts of the image it rests on, and which class means are nearest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data import ImageBytes, require_decoders, with_progress
from mooring.evaluate import log_odds
from mooring.federation._image_files import LabelledFile, labelled_files, read_pixels, scored, square_of
from mooring.federation._look import look
from mooring.federation._model_file import ModelFile
from mooring.federation._predict import Prediction, Unreadable, judged, prediction_of

GRID = 8  # windows start at 7 x 7 places, and cover a quarter of the side
COVERS = 2  # cells of the grid, of a window
PICTURE = 192  # pixels a side of a picture, at least
DIMMED = 0.35  # brightness of the image below the map
EXAMPLES = 6  # right ones and wrong ones


@dataclass(frozen=True)
class Explanation:
    """A prediction, the image as the model sees it, and how much each pixel supports the predicted class."""

    prediction: Prediction
    image: Tensor = field(repr=False)  # (C, H, W), uint8
    support: Tensor = field(repr=False)  # (H, W)
    truth: str | None = None

    def picture(self) -> Tensor:
        """The image, and beside it the map: orange supports the class, blue speaks against it; (3, H, 2 W), uint8."""
        side = max(PICTURE, *self.image.shape[1:])
        image = F.interpolate(self.image[None].float() / 255, (side, side), mode="nearest")[0].expand(3, -1, -1)
        cells = F.interpolate(self.support[None, None].float(), (GRID, GRID), mode="area")  # then without edges
        support = F.interpolate(cells, (side, side), mode="bilinear")[0]
        strength = support / support.abs().amax().clamp(min=1e-6)
        grey = DIMMED * image.mean(0, keepdim=True)
        orange, blue = (torch.tensor(colour)[:, None, None] for colour in ((1.0, 0.55, 0.0), (0.2, 0.5, 1.0)))
        overlay = grey + (1 - DIMMED) * (strength.clamp(min=0) * orange + (-strength).clamp(min=0) * blue)
        return (255 * torch.cat([image, overlay], 2).clamp(0, 1)).round().to(torch.uint8)


def explain(model: ModelFile, image: Tensor, file: Path, truth: str | None = None) -> Explanation:
    """The prediction for one image (C, H, W), uint8, and its map; 50 images are scored for it."""
    found = look(model, torch.cat([image[None], *occluded(image)]))
    distances = None if found.distances is None else found.distances[0]
    prediction = judged(model, file, found.scores[0], distances)
    label = model.classes.index(prediction.first.label)
    odds = log_odds(found.scores.double())[:, label]
    return Explanation(prediction, image, support_of((odds[0] - odds[1:]).nan_to_num(), image.shape[1:]), truth)


def windows(height: int, width: int) -> Iterator[tuple[slice, slice]]:
    """All places of a window, row by row."""
    rows, columns = (torch.linspace(0, length, GRID + 1).round().int().tolist() for length in (height, width))
    for top in range(GRID - COVERS + 1):
        for left in range(GRID - COVERS + 1):
            yield slice(rows[top], rows[top + COVERS]), slice(columns[left], columns[left + COVERS])


def occluded(image: Tensor) -> Iterator[Tensor]:
    """The image with one window filled with its mean colour, for every window (Zeiler and Fergus 2014)."""
    mean = image.double().mean((1, 2)).round().to(image.dtype)[:, None, None]
    for rows, columns in windows(*image.shape[1:]):
        copy = image.clone()
        copy[:, rows, columns] = mean
        yield copy[None]


def support_of(drops: Tensor, shape: Sequence[int]) -> Tensor:
    """For each pixel the mean drop of the log-odds over the windows that cover it, (H, W)"""
    total, count = torch.zeros(2, *shape, dtype=torch.float64)
    for drop, (rows, columns) in zip(drops, windows(*shape), strict=True):
        total[rows, columns] += drop
        count[rows, columns] += 1
    mean: Tensor = total / count
    return mean


def explain_files(model: ModelFile, files: Sequence[Path]) -> list[Explanation]:
    """An explanation of each of these files; one that cannot be read has none."""
    square = square_of(model.blueprint, model.provenance.reading)
    read = ((path, read_pixels(path, square)) for path in with_progress(files))
    return [explain(model, image, path) for path, image in read if isinstance(image, Tensor)]


def explain_image(model: ModelFile, image: ImageBytes, max_pixels: int) -> Explanation | Unreadable:
    """The same for an image that came over a connection."""
    require_decoders([image])
    pixels = read_pixels(image, square_of(model.blueprint, model.provenance.reading), max_pixels)
    file = Path(str(image))
    return explain(model, pixels, file) if isinstance(pixels, Tensor) else Unreadable(file, pixels)


def explain_examples(model: ModelFile, root: Path) -> list[Explanation]:
    """Of the images of root/<class>/: the surest wrong predictions, then the surest right ones, each class in turn."""
    files = labelled_files(root, model.classes)
    rows = zip(files, scored(model, [file.path for file in files]), strict=True)
    answers = [(file, prediction_of(row, model)) for file, row in rows]
    known = [(file, found) for file, found in answers if isinstance(found, Prediction)]
    known.sort(key=lambda row: -row[1].first.confidence)
    wrong, right = (
        in_turn([row for row in known if (row[1].first.label == model.classes[row[0].label]) is hit])[:EXAMPLES]
        for hit in (False, True)
    )
    square = square_of(model.blueprint, model.provenance.reading)
    read = ((file, read_pixels(file.path, square)) for file, _ in (*wrong, *right))
    return [
        explain(model, image, file.path, model.classes[file.label]) for file, image in read if isinstance(image, Tensor)
    ]


def in_turn(rows: Sequence[tuple[LabelledFile, Prediction]]) -> list[tuple[LabelledFile, Prediction]]:
    """The first of every true class, then the second of every one, ..."""
    before: dict[int, int] = {}
    places = []
    for file, _ in rows:
        places.append(before.get(file.label, 0))
        before[file.label] = places[-1] + 1
    return [row for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])]
