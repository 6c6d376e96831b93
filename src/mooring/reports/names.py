"""What the data calls its classes and how large an image is, where the data is at hand."""

from dataclasses import dataclass
from functools import lru_cache

from mooring.data.images import Source
from mooring.errors import MooringError
from mooring.reports.book import Run


@dataclass(frozen=True)
class Look:
    """Of a data set."""

    classes: tuple[str, ...]
    shape: tuple[int, int, int]


@lru_cache(maxsize=16)
def look(source: Source) -> Look | None:
    """Nothing where the data of a run is not on this machine: a report can be written anywhere."""
    try:
        images = source.train()
    except MooringError:
        return None
    return Look(images.classes, images.shape)


def class_names(run: Run) -> tuple[str, ...]:
    """The names of the data, or numbers."""
    classes = len(run.result["confusion"])
    seen = look(run.experiment.data)
    return seen.classes if seen is not None and len(seen.classes) == classes else tuple(map(str, range(classes)))
