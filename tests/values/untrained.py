"""Uploads of networks that nobody trained: every layer different at every client, in a moment."""

from dataclasses import replace

import torch
from torch import nn

from mooring.fusion import FUSIONS
from mooring.models._backbones import DigitsNet
from mooring.models._heads import RawPrototypes
from mooring.models._network import Blueprint
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import extract_parts

COMBINING = ["calibrated", "familiarity", "iffi", "nearest-prototype", "output-ensemble", "standardised-sum"]
MERGING = ["fisher", "ot", "parameter-average", "regmean"]
NEEDS = frozenset().union(*(FUSIONS[kind]().needs for kind in COMBINING + MERGING))
PLAN = Blueprint(DigitsNet(0.5), RawPrototypes(), (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))
LABELS = [([0, 1, 2], 8), ([2, 3, 4, 5], 5), ([5, 6], 4)]  # classes of each client, and how many images of each


def network_of(blueprint, seed, images):
    """A network with batch-norm statistics and affine parameters of its own."""
    network = blueprint.build(generator(seed, "network"))
    rng = generator(seed, "norms")
    with torch.no_grad():
        network.train()(images)
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.weight.uniform_(0.5, 1.5, generator=rng)
                module.bias.uniform_(-0.5, 0.5, generator=rng)
    return network.eval()


def upload_of(blueprint, shard, client, parts=NEEDS):
    network = network_of(blueprint, client, shard.images)
    return Upload(client, 0, len(shard), extract_parts(parts, network, shard))


def changed(upload, **tensors):
    return replace(upload, tensors={**upload.tensors, **tensors})
