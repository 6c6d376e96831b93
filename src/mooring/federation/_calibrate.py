"""From a folder of labelled images to the calibration of a model."""

from dataclasses import dataclass
from pathlib import Path

import torch
from nacl.signing import SigningKey

from mooring.errors import DataError, FederationError
from mooring.federation._calibration import Calibration, Targets, calibrated, calibration_file, encode_calibration
from mooring.federation._container import write_container
from mooring.federation._image_files import labelled_files, scored
from mooring.federation._look import unusualness
from mooring.federation._model_file import ModelFile
from mooring.federation._predict import Unreadable
from mooring.record import positive_label


@dataclass(frozen=True)
class CalibrationMade:
    """The file that was written, and images that could not be read."""

    path: Path
    calibration: Calibration
    unreadable: tuple[Unreadable, ...] = ()


def calibrate(model: ModelFile, file: Path, root: Path, targets: Targets, key: SigningKey | None) -> CalibrationMade:
    """Write the calibration of the model in `file`, from root/<class>/ or root/<site>/<class>/, beside it."""
    if targets.positive is not None and targets.sensitivity is None:
        raise FederationError(f"--positive {targets.positive}: needs a sensitivity", "add --sensitivity 0.95")
    positive_label(model.classes, targets.positive)  # an unknown class is an error before an hour of images
    files = labelled_files(root, model.classes)
    rows = list(scored(model, [own.path for own in files]))
    unreadable = tuple(Unreadable(row.path, row.problem) for row in rows if row.scores is None)
    kept = [(own, row) for own, row in zip(files, rows, strict=True) if row.scores is not None]
    if not kept:
        raise DataError(f"{root}: none of {len(files)} images can be read", "name other images")
    scores = torch.stack([row.scores for _, row in kept if row.scores is not None])
    unusual = [
        unusualness(row.scores, row.distances)
        for _, row in kept
        if row.scores is not None and row.distances is not None
    ]
    found = calibrated(
        model.sha256,
        root.resolve().name or str(root),
        model.classes,
        scores,
        torch.tensor([own.label for own, _ in kept]),
        torch.tensor(unusual, dtype=torch.float64) if unusual else None,
        targets,
    )
    path = calibration_file(file)
    write_container(path, encode_calibration(found, key))
    return CalibrationMade(path, found, unreadable)
