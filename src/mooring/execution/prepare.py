"""From an experiment to client jobs: who holds what, what everybody is asked to do, and what the server has."""

from mooring.client import ClientJob
from mooring.config import Experiment, job_of
from mooring.data.clients import Federation, federate
from mooring.errors import DataError, FusionError
from mooring.fusion import Fusion, Server

USUAL_PUBLIC_RATIO = 0.1  # note 1


def divided(experiment: Experiment) -> Federation:
    """Who holds what, whatever the method could make of it."""
    federation = federate(experiment.data, experiment.partition, experiment.split_seed, public_ratio(experiment))
    return federation.pooled() if experiment.method.shards == "pooled" else federation


def public_ratio(experiment: Experiment) -> float:
    """The share of the images that everybody may see."""
    source, method = experiment.data, experiment.method
    asks = method.fusion.asks if method.fusion else frozenset()
    wanted = method.bank is not None or "public" in asks
    usual = USUAL_PUBLIC_RATIO if wanted and source.public is None else 0.0
    return usual if source.public_ratio is None else source.public_ratio


def prepare(experiment: Experiment) -> tuple[Federation, ClientJob]:
    """Who holds what, and what everybody will be asked to do; a bank is built when the run begins."""
    method, federation = experiment.method, divided(experiment)
    if method.bank is not None and federation.public is None:
        raise DataError(
            f"data.public_ratio={public_ratio(experiment)}: the feature bank of {experiment.name} has no public images",
            f"set data.public_ratio={USUAL_PUBLIC_RATIO} or data.public.source=...",
        )
    if method.fusion:
        equipped(method.fusion, federation)
    return federation, job_of(experiment, federation.train.shape, federation.train.classes)


def equipped(fusion: Fusion, federation: Federation) -> None:
    """Does the server hold the images that the rule asks for?"""
    remedies = {
        "public": f"set data.public_ratio={USUAL_PUBLIC_RATIO} or data.public.source=...",
        "validation": "set data.validation=0.1",
    }
    held = {"public": federation.public, "validation": federation.validation}
    for images in sorted(fusion.asks):
        if held[images] is None:
            raise FusionError(f"fusion={fusion.kind}: needs {images} images and this run has none", remedies[images])


def server_of(experiment: Experiment, federation: Federation, job: ClientJob) -> Server:
    return Server(job.blueprint, experiment.seed, federation.public, federation.validation)
