"""From an experiment to the job of its clients, once the shape and the classes of the images are known."""

import torch

from mooring.client import ClientJob
from mooring.config._experiment import Experiment
from mooring.fusion import FeatureEnsemble
from mooring.models import Blueprint
from mooring.uploads import expected_of


def job_of(experiment: Experiment, shape: tuple[int, int, int], classes: tuple[str, ...]) -> ClientJob:
    """The client job of all clients; raises an error before training if the model cannot be built."""
    source, method = experiment.data, experiment.method
    blueprint = Blueprint(experiment.model, method.client.head, shape, classes, source.mean, source.std)
    network = blueprint.build(torch.Generator())
    if method.client.align is not None and method.client.align.anchor is not None:
        method.client.align.anchor.build(network.prototypes.detach(), torch.Generator())
    needs = (method.fusion or FeatureEnsemble()).needs  # without a fusion: what it takes to judge a client alone
    expected_of(needs, blueprint)  # a part that cannot be made, such as one of a missing file
    return ClientJob(blueprint, method.client, experiment.training, experiment.seed, source.mirror, needs)
