"""Three clients whose networks nobody trained, and a server for them."""

import pytest
import torch
from untrained import LABELS, PLAN, upload_of

from mooring.fusion._base import Server


@pytest.fixture(scope="module")
def shards(shard_of):
    return [shard_of(labels, each) for labels, each in LABELS]


@pytest.fixture(scope="module")
def uploads(shards):
    return [upload_of(PLAN, shard, k) for k, shard in enumerate(shards)]


@pytest.fixture(scope="module")
def server(digits):
    return Server(PLAN, validation=digits.select(torch.arange(-400, -200)))


@pytest.fixture(scope="module")
def images(digits):
    return digits.images[-100:]
