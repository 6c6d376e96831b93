"""Which files the run behind a model trained on, where somebody can tell: a model itself names no file."""

from pathlib import Path

from mooring.config import HOUSE_CODE, Trust, load_recorded
from mooring.data import ImageFolder
from mooring.errors import MooringError
from mooring.federation._model_file import ModelFile
from mooring.record import RunFolder


def trained_on(model: ModelFile, file: Path, root: Path, trust: Trust = HOUSE_CODE) -> frozenset[Path]:
    """The training images of the run in whose folder the model's `file` lies, if they and `root` share a folder.

    Nothing where that is unknown: the model lies in no run of its own, or the images are elsewhere by now. No
    folder is looked into because a run names it, only one that the user has named too.
    """
    try:
        experiment = load_recorded(RunFolder(file.parent).experiment_file, trust)
        source, asked = experiment.data, root.resolve()
        if experiment.fingerprint() != model.provenance.fingerprint or not isinstance(source, ImageFolder):
            return frozenset()
        own = Path(source.root or "").resolve()
        if source.root is None or not (own.is_relative_to(asked) or asked.is_relative_to(own)):
            return frozenset()
        return frozenset(path.resolve() for path in source.training_files())
    except (MooringError, OSError):
        return frozenset()
