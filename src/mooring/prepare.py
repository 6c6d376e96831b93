"""From an experiment to work orders: who holds what, what everybody is asked to do, and what the server has."""

import torch

from mooring.client import ClientJob
from mooring.config import Experiment
from mooring.data.clients import Federation, federate
from mooring.errors import DataError, FusionError
from mooring.fusion import FeatureEnsemble, Fusion
from mooring.fusion.server import Server
from mooring.models.network import Blueprint
from mooring.types import Emit
from mooring.uploads import expected_of

USUAL_PUBLIC_RATIO = 0.1  # note 1


def prepare(experiment: Experiment) -> tuple[Federation, ClientJob]:
    """Who holds what, and what everybody will be asked to do; a bank is built when the run begins."""
    source, method = experiment.data, experiment.method
    asks = method.fusion.asks if method.fusion else frozenset()
    wanted = method.bank is not None or "public" in asks
    usual = USUAL_PUBLIC_RATIO if wanted and source.public is None else 0.0
    ratio = usual if source.public_ratio is None else source.public_ratio
    federation = federate(source, experiment.partition, experiment.split_seed, ratio)
    if method.bank is not None and federation.public is None:
        raise DataError(
            f"data.public_ratio={ratio}: the feature bank of {experiment.name} has no public images",
            f"set data.public_ratio={USUAL_PUBLIC_RATIO} or data.public.source=...",
        )
    if method.fusion:
        equipped(method.fusion, federation)
    if method.shards == "pooled":
        federation = federation.pooled()
    return federation, job_of(experiment, federation)


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


def server_of(experiment: Experiment, federation: Federation, job: ClientJob, emit: Emit) -> Server:
    return Server(job.blueprint, experiment.seed, federation.public, federation.validation, emit)


def job_of(experiment: Experiment, federation: Federation) -> ClientJob:
    """The work order of all clients; a model that cannot be built is refused before anybody trains."""
    source, method = experiment.data, experiment.method
    blueprint = Blueprint(
        experiment.model,
        method.client.head,
        federation.train.shape,
        federation.train.classes,
        source.mean,
        source.std,
    )
    network = blueprint.build(torch.Generator())
    if method.client.align is not None and method.client.align.anchor is not None:
        method.client.align.anchor.build(network.prototypes.detach(), torch.Generator())
    needs = (method.fusion or FeatureEnsemble()).needs  # without a fusion: what it takes to judge a client alone
    expected_of(needs, blueprint)  # a part that cannot be made, such as one of a missing file
    return ClientJob(blueprint, method.client, experiment.training, experiment.seed, source.mirror, needs)
