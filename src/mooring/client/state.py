"""All that changes while a client trains, and how it starts."""

from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor
from torch.nn.utils import clip_grad_norm_

from mooring.anchors import Anchors
from mooring.client.job import ClientJob
from mooring.client.ledger import Ledger
from mooring.client.memory import Memory
from mooring.client.momentum import Group, Momentum
from mooring.client.position import Position
from mooring.client.recipe import Clipping
from mooring.client.spare import first_network
from mooring.models.network import Network
from mooring.schedules import at
from mooring.seeds import generator
from mooring.types import ClientFacts, Progress
from mooring.weighting import Balancer


@dataclass
class ClientState:
    """Network, anchors, balancer, one persistent optimizer and this client's own random streams."""

    network: Network
    anchors: Anchors | None
    balancer: Balancer | None
    optimizer: Momentum
    order: Generator
    augment: Generator
    weighting: Generator
    ledger: Ledger
    position: Position = field(default_factory=Position)
    epoch_start: Tensor | None = None  # the order stream before it drew this epoch
    memory: Memory | None = None
    label_counts: Tensor | None = None  # (C,)
    step: int = 0

    @classmethod
    def start(cls, job: ClientJob, facts: ClientFacts, network: Network | None = None) -> "ClientState":
        """What all clients share (network, anchors), and what is this client's own (weighting, streams).

        A `network` that is given must be as it was built.
        """
        network = network or first_network(job)
        training, align = job.training, job.recipe.align
        groups = [Group(list(network.parameters()), training.lr, training.weight_decay)]
        anchors = balancer = None
        weighting = generator(job.seed, "client", facts.client, "weighting")
        if align is not None:
            if align.anchor is not None:
                anchors = align.anchor.build(network.prototypes.detach(), generator(job.seed, "anchors"))
                network.head.moor(anchors(Progress()))
            balancer = align.weight.start(facts, weighting)
            own = list(balancer.parameters())
            groups += [Group(own, balancer.rate(training.lr))] if own else []
        return cls(
            network,
            anchors,
            balancer,
            Momentum(groups, training.momentum),
            order=generator(job.seed, "client", facts.client, "order"),
            augment=generator(job.seed, "client", facts.client, "augment"),
            weighting=weighting,
            ledger=Ledger(facts.client),
            memory=Memory(job.recipe.memory, network.prototypes.shape[1]) if job.recipe.memory else None,
            label_counts=torch.tensor(facts.label_counts),
        )

    def set_rate(self, job: ClientJob, progress: Progress) -> None:
        share = at(job.training.lr_schedule, progress)
        for group in self.optimizer.groups:
            group.rate = group.lr * share

    def clip(self, style: Clipping, limit: float | None) -> Tensor:
        """Clip the gradients to norm `limit`, all together or group by group; the norm before, over everything."""
        groups = [self.optimizer.parameters]
        if style == "per-group":
            own = [] if self.balancer is None else list(self.balancer.parameters())
            groups = [list(self.network.encoder.parameters()), list(self.network.head.parameters()), own]
        bound = float("inf") if limit is None else limit
        norms = [clip_grad_norm_(group, bound) for group in groups if group]
        norm: Tensor = torch.stack(norms).norm()
        return norm
