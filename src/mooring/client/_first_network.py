"""The network that every client starts from: built once per process and borrowed by one client after the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.client._job import ClientJob
from mooring.models import Blueprint, Network
from mooring.seeds import generator


@dataclass
class Spare:
    """A network that is not in use, and its initial values: resetting it is ten times cheaper than building it."""

    blueprint: Blueprint
    seed: int
    network: Network
    initial: list[Tensor]

    def fits(self, job: ClientJob) -> bool:
        return (self.blueprint, self.seed) == (job.blueprint, job.seed)

    def set_back(self) -> None:
        with torch.no_grad():
            for value, initial in zip(values(self.network), self.initial, strict=True):
                value.copy_(initial)


_spares: list[Spare] = []  # at most one: clients of a process follow each other


@contextmanager
def borrowed(job: ClientJob) -> Iterator[Network]:
    """The network before its first step, for this block alone; two blocks at a time get two networks."""
    spare = _spares.pop() if _spares else None
    if spare is None or not spare.fits(job):
        spare = build_spare(job)
    try:
        yield spare.network
    finally:
        spare.set_back()
        _spares[:] = [spare]


def build_spare(job: ClientJob) -> Spare:
    network = first_network(job)
    return Spare(job.blueprint, job.seed, network, [value.detach().clone() for value in values(network)])


def first_network(job: ClientJob) -> Network:
    """The same for all clients."""
    return job.blueprint.build(generator(job.seed, "network"))


def values(network: Network) -> list[Tensor]:
    return [*network.parameters(), *network.buffers()]
