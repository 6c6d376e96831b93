"""Lambda learned from the uncertainty of two tasks: one formula, three schedules, one guard.

u = log sigma_local^2,   v = log sigma_align^2,   raw lambda = e^(u - v)
"""

from dataclasses import dataclass, field, replace
from math import exp, log
from typing import Annotated, ClassVar, Literal, Protocol

import torch
from torch import Generator, Tensor, nn

from mooring.schedules import ScheduleName, at
from mooring.schema import Checked, Doc, Positive
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, full_local_weight, pull
from mooring.weighting._equilibrium import growth_bound, relaxation_steps, stationary
from mooring.weighting._fixed import ByEntropy
from mooring.weighting._guards import FREE, Guard


class Start(Protocol):
    """Initial u and v of a client."""

    kind: ClassVar[str]

    def values(self, facts: ClientFacts) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Zero:
    """u = v = 0: lambda starts at 1 (note 2)."""

    kind: ClassVar[str] = "zero"

    def values(self, facts: ClientFacts) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class FromEntropy(Checked):
    """u = log lambda_k, v = 0: lambda starts where the entropy rule of V9 puts it (the runs of notes 3 and 5)."""

    kind: ClassVar[str] = "entropy"
    minimum: Annotated[Positive, Doc("as for `by-entropy`, for the initial lambda")] = 0.1
    maximum: Annotated[Positive, Doc("as for `by-entropy`, for the initial lambda")] = 10.0

    def values(self, facts: ClientFacts) -> tuple[float, float]:
        return log(ByEntropy(self.minimum, self.maximum).value(facts)), 0.0


@dataclass(frozen=True)
class Values(Checked):
    """u and v as given; note 2 proposes -1 and 0, which starts lambda below 1."""

    kind: ClassVar[str] = "values"
    u: Annotated[float, Doc("log sigma_local^2")] = -1.0
    v: Annotated[float, Doc("log sigma_align^2")] = 0.0

    def values(self, facts: ClientFacts) -> tuple[float, float]:
        return self.u, self.v


STARTS: dict[str, type[Start]] = {"zero": Zero, "entropy": FromEntropy, "values": Values}


@dataclass(frozen=True)
class Sigma(Checked):
    """`lr` None is the model's learning rate; `lr_scale` multiplies either (note 2 proposes 0.01)."""

    lr: Annotated[Positive | None, Doc("learning rate of the scalars; `null`: the model's")] = None
    lr_scale: Annotated[Positive, Doc("factor of that learning rate")] = 1.0
    start: Annotated[Start, Doc("initial values, see below")] = field(default_factory=Zero)

    def rate(self, model_lr: float) -> float:
        return self.lr_scale * (model_lr if self.lr is None else self.lr)


@dataclass(frozen=True)
class Uncertainty(Checked):
    """own_loss = 1/2 [ e^-u L_b + DATA(p) e^-v L_a + u + PRIOR(p) v ] + guard(u, v)
    model_loss = L_b + RATIO(p) e^(u-v) L_a

    With `separate` gradients own_loss sees both losses detached and the model sees lambda detached. With `joint` ones
    the first line is the one loss of model and scalars alike (Kendall et al. 2018, V10), with w_local = 1/2 e^-u
    and w_align = 1/2 DATA e^-v: the effective lambda is DATA e^(u-v), at a learning rate scaled by
    1 / (2 sigma_local^2), and RATIO is not used. `rescaled` is that joint loss times 2 e^u, detached (the runs of
    note 3): the model sees L_b + DATA e^(u-v) L_a at its own learning rate, and the gradients of u and v grow by
    2 sigma_local^2.
    """

    kind: ClassVar[str] = "uncertainty"
    ratio: Annotated[ScheduleName, Doc("schedule RATIO: effective lambda")] = "constant"
    data: Annotated[ScheduleName, Doc("schedule DATA: alignment loss in the scalars' loss")] = "constant"
    prior: Annotated[ScheduleName, Doc("schedule PRIOR: log term of the scalars' loss")] = "constant"
    guard: Annotated[Guard | None, Doc("limits lambda, see below")] = None
    sigma: Annotated[Sigma, Doc("initial values and learning rate of the two scalars")] = field(default_factory=Sigma)
    gradients: Annotated[
        Literal["separate", "joint", "rescaled"],
        Doc("losses of model and scalars: `separate`, `joint`, or `rescaled` (joint times 2 sigma_local^2)"),
    ] = "separate"

    @property
    def coupled(self) -> bool:
        """Is there one loss for weights and scalars?"""
        return self.gradients != "separate"

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return UncertaintyBalancer(self, *self.sigma.start.values(facts))

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        data, prior = at(self.data, progress), at(self.prior, progress)
        ratio = data if self.coupled else at(self.ratio, progress)
        return stationary(local, align, ratio, data, prior, self.guard or FREE)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        rate, start = self.sigma.rate(lr), self.sigma.start.values(facts)
        if self.gradients == "rescaled":
            rate *= 2 * max(exp(start[0]), largest_local)  # at most
        largest = growth_bound(start, largest_local, rate, momentum, facts.steps)
        guard, felt = self.guard, self.data if self.coupled else self.ratio
        return LambdaBounds(
            largest if guard is None else min(largest, guard.most(largest_local), guard.cap),
            relaxation=relaxation_steps(rate, momentum),
            momentum=momentum,
            cancels=felt == self.data != "constant" and self.prior == "constant" and guard is None,
            guard=None if guard is None else guard.kind,
            cap=None if guard is None else lambda local, now: min(guard.cap, at(felt, now) * guard.most(local)),
            local_weight=halved_by_variance if self.gradients == "joint" else full_local_weight,
        )


def halved_by_variance(felt: float, sigma_sq_local: float | None) -> float:
    """1 / (2 sigma_local^2): what joint gradients multiply L_b by."""
    return 1 / (2 * sigma_sq_local) if sigma_sq_local else 1.0


class UncertaintyBalancer(Balancer):
    """u = log sigma_local^2 and v = log sigma_align^2, learned."""

    def __init__(self, rule: Uncertainty, u: float, v: float) -> None:
        super().__init__()
        self.rule = rule
        self.u = nn.Parameter(torch.tensor(u))
        self.v = nn.Parameter(torch.tensor(v))

    def rate(self, model_lr: float) -> float:
        return self.rule.sigma.rate(model_lr)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        rule, u, v = self.rule, self.u, self.v
        raw = (u - v).exp().detach()
        sigmas = {"sigma_sq_local": u.exp(), "sigma_sq_align": v.exp()}
        if rule.coupled:
            data, prior = at(rule.data, progress), at(rule.prior, progress)
            own = self.guarded(0.5 * (u + prior * v))
            joint = Balanced(0.5 * (-u).exp(), 0.5 * data * (-v).exp(), own, raw, data * raw, data, sigmas)
            return joint if rule.gradients == "joint" else rescaled(joint, 2 * u.exp().detach())
        ratio = at(rule.ratio, progress)
        felt = ratio * raw if rule.guard is None else (ratio * raw).clamp(max=rule.guard.cap)
        own = self.own_loss(losses.local.detach(), losses.align.detach(), progress)
        return pull(raw, felt, ratio, own, sigmas)

    def own_loss(self, local: Tensor, align: Tensor, progress: Progress) -> Tensor:
        data, prior = at(self.rule.data, progress), at(self.rule.prior, progress)
        u, v = self.u, self.v
        return self.guarded(0.5 * ((-u).exp() * local + data * (-v).exp() * align + u + prior * v))

    def guarded(self, own: Tensor) -> Tensor:
        return own if self.rule.guard is None else own + self.rule.guard.penalty(self.u, self.v)


def rescaled(balanced: Balanced, factor: Tensor) -> Balanced:
    """The whole loss of a step times a constant factor (no gradient flows through it)."""
    own = None if balanced.own_loss is None else factor * balanced.own_loss
    return replace(balanced, w_local=factor * balanced.w_local, w_align=factor * balanced.w_align, own_loss=own)
