"""All that changes while a client trains, and how it starts.

Stochastic gradient descent is written out here, because importing torch.optim takes every worker two seconds.
"""

from dataclasses import dataclass, field
from time import monotonic

import torch
from torch import Generator, Tensor
from torch.nn import Parameter
from torch.nn.utils import clip_grad_norm_

from mooring.anchors import Anchors
from mooring.client._device import CPU, Device
from mooring.client._first_network import first_network
from mooring.client._held_out import HeldOut
from mooring.client._job import ClientJob
from mooring.client._loss_scale import Unscaled, loss_scale_for
from mooring.client._measured import EpochMeasurements
from mooring.client._recipe import Clipping
from mooring.models import Network
from mooring.schedules import at
from mooring.seeds import generator
from mooring.types import ClientFacts, FeatureBank, Progress
from mooring.weighting import Balancer


@dataclass
class Group:
    """Parameters that share a learning rate; `rate` follows the schedule, `lr` is where it starts."""

    parameters: list[Parameter]
    lr: float
    weight_decay: float = 0.0
    rate: float = 0.0
    velocity: dict[int, Tensor] = field(default_factory=dict)  # by the parameter's place in the group


@dataclass
class Momentum:
    """v <- m v + (g + d p);  p <- p - rate v;  v begins at zero

    The same numbers as torch.optim.SGD, to the bit. A parameter without a gradient stays where it is.
    """

    groups: list[Group]
    momentum: float

    def __post_init__(self) -> None:
        self.parameters = [parameter for group in self.groups for parameter in group.parameters]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def forget(self) -> None:
        """v <- 0, as in a new optimizer."""
        for group in self.groups:
            group.velocity.clear()

    @torch.no_grad()
    def step(self) -> None:
        """Every group; the gradients are used up."""
        for group in self.groups:
            parameters: list[Tensor] = []
            summands: list[Tensor] = []
            velocity: list[Tensor] = []
            for i, parameter in enumerate(group.parameters):
                if parameter.grad is not None:
                    parameters.append(parameter)
                    summands.append(parameter.grad)
                    velocity.append(group.velocity.setdefault(i, torch.zeros_like(parameter)))
            if not parameters:
                continue
            if group.weight_decay:
                torch._foreach_add_(summands, parameters, alpha=group.weight_decay)
            torch._foreach_mul_(velocity, self.momentum)
            torch._foreach_add_(velocity, summands)
            torch._foreach_add_(parameters, velocity, alpha=-group.rate)


@dataclass
class Position:
    """The next step: which round, which epoch of it, which batch of that epoch."""

    round: int = 0
    epoch: int = 0
    batch: int = 0


class Memory:
    """A ring of `size` unit features with their labels, first in, first out; it lasts for the whole training."""

    def __init__(self, size: int, dimension: int, device: Device = CPU) -> None:
        self.features = device.take(torch.zeros(size, dimension))
        self.labels = device.take(torch.zeros(size, dtype=torch.int64))
        self.written = 0

    def bank(self) -> FeatureBank:
        filled = min(self.written, len(self.features))
        return FeatureBank(self.features[:filled], self.labels[:filled])

    def remember(self, features: Tensor, labels: Tensor) -> None:
        """The newest features take the place of the oldest."""
        size = len(self.features)
        features, labels = features.detach()[-size:], labels[-size:]
        places = (self.written + torch.arange(len(features), device=labels.device)) % size
        self.features[places] = features
        self.labels[places] = labels
        self.written += len(features)


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
    measurements: EpochMeasurements
    position: Position = field(default_factory=Position)
    epoch_start: Tensor | None = None  # the order stream before it drew this epoch
    memory: Memory | None = None
    label_counts: Tensor | None = None  # (C,)
    bank: FeatureBank | None = None
    device: Device = CPU
    step: int = 0
    began: float = field(default_factory=monotonic)  # the round; earlier where a process before trained part of it
    last_tick: float = field(
        default_factory=monotonic
    )  # when somebody last heard how far it is, whatever epoch that was
    held_out: HeldOut | None = None
    loss_scale: Unscaled = field(default_factory=Unscaled)

    @classmethod
    def start(
        cls, job: ClientJob, facts: ClientFacts, network: Network | None = None, device: Device = CPU
    ) -> "ClientState":
        """What all clients share (network, anchors), and what is this client's own (weighting, streams).

        A `network` that is given must be as it was built.
        """
        network = network or first_network(job)
        training, align = job.training, job.recipe.align
        anchors = balancer = None
        weighting = generator(job.seed, "client", facts.client, "weighting")
        if align is not None:
            if align.anchor is not None:
                anchors = align.anchor.build(network.prototypes.detach().cpu(), generator(job.seed, "anchors"))
                network.head.start_at(anchors(Progress()))
            balancer = align.weight.start(facts, weighting).to(device.name)
        device.hold(network)
        groups = [Group(list(network.parameters()), training.lr, training.weight_decay)]
        if balancer is not None and (own := list(balancer.parameters())):
            groups.append(Group(own, balancer.rate(training.lr)))
        return cls(
            network,
            anchors,
            balancer,
            Momentum(groups, training.momentum),
            order=generator(job.seed, "client", facts.client, "order"),
            augment=generator(job.seed, "client", facts.client, "augment"),
            weighting=weighting,
            measurements=EpochMeasurements(facts.client),
            memory=Memory(job.recipe.memory, network.prototypes.shape[1], device) if job.recipe.memory else None,
            label_counts=device.take(torch.tensor(facts.label_counts)),
            bank=None if job.bank is None else placed(job.bank, device),
            device=device,
            loss_scale=loss_scale_for(training.precision),
        )

    def anchors_at(self, progress: Progress) -> Tensor | None:
        return None if self.anchors is None else self.device.take(self.anchors(progress))

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
        bound = float("inf") if limit is None or style == "none" else limit
        norms = [clip_grad_norm_(group, bound) for group in groups if group]
        norm: Tensor = torch.stack(norms).norm()
        return norm


def placed(bank: FeatureBank, device: Device) -> FeatureBank:
    labels = None if bank.labels is None else device.take(bank.labels)
    return FeatureBank(device.take(bank.features), labels)
