"""The encoder that the model of a simulated run names: it is where the run found it, unless somebody moved it."""

from hashlib import sha256
from pathlib import Path

from mooring.config.tree import read_file
from mooring.errors import MooringError
from mooring.federation.job_file import paths_in
from mooring.models.feature_maps.content import content_of, digest_in
from mooring.record import RunFolder


def encoder_of_run(model: Path, encoder: str) -> str | None:
    """The file with this content that the run in the model's folder looked through; else one that has changed since.

    None where the model lies in no run, or the file lies there no more: then whoever asks must name it.
    """
    try:
        named = paths_in(read_file(RunFolder(model.parent).experiment_file).get("method"))
    except MooringError:
        return None
    there = [path for path in dict.fromkeys(named) if Path(path).is_file()]
    return next((path for path in there if holds(path, encoder)), next(iter(there), None))


def holds(path: str, encoder: str) -> bool:
    try:
        return sha256(content_of(path)).hexdigest() == digest_in(encoder)
    except MooringError:
        return False
