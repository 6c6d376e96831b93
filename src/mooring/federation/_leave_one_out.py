"""How good a model would be without each of its sites."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mooring.federation._assessment import Assessment, assess
from mooring.federation._kept_uploads import KeptUploads
from mooring.federation._model_file import ModelFile
from mooring.fusion import Server
from mooring.processes import threads


@dataclass(frozen=True)
class WithoutSite:
    """The model that the other sites make, on the same images."""

    site: str
    found: Assessment


def without_each(model: ModelFile, kept: KeptUploads, held_out: Path) -> tuple[WithoutSite, ...]:
    """One fusion and one test for every site; nothing if there is only one, or if nobody can take a sum apart."""
    apart = len(kept.uploads) > 1 and kept.job.manifest.secure is None
    return tuple(_without_each(model, kept, held_out)) if apart else ()


def _without_each(model: ModelFile, kept: KeptUploads, held_out: Path) -> Iterator[WithoutSite]:
    job = kept.job
    server = Server(job.work.blueprint, job.experiment.seed)
    for file in kept.uploads:
        others = sorted((own.upload for own in kept.uploads if own is not file), key=lambda upload: upload.client)
        with threads(1):  # the same bytes on every machine
            predictor = job.fusion(others, server)
        yield WithoutSite(file.manifest.site, assess(replace(model, predictor=predictor), held_out))


def accuracy_gain(found: Assessment, without: WithoutSite) -> float:
    """Points of accuracy that the model gains by having the site."""
    return 100 * ((found.right.share or 0.0) - (without.found.right.share or 0.0))
