"""Guards: what keeps a learned lambda from running away.

A guard adds `penalty(u, v)` to the loss of the two scalars, and may cap what the weights feel. For the equilibrium it
says how it enters: `floor` is added to the alignment loss that sigma_align sees, push(lambda), which is
2 d penalty / d log lambda, pulls lambda down, and drag(u), which is 2 d penalty / du, pulls sigma_local alone:

    e^u = L_b / (1 + push + drag),   e^v = (DATA L_a + floor) / (PRIOR - push)
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Annotated, ClassVar, Protocol

from torch import Tensor, zeros_like

from mooring.schema import Checked, Doc, Positive


class Guard(Protocol):
    """What is not overridden does not act: no floor, no cap, no push, no drag and no bound."""

    kind: ClassVar[str]

    @property
    def floor(self) -> float:
        return 0.0

    @property
    def cap(self) -> float:
        return inf

    def push(self, lam: float) -> float:
        return 0.0

    def drag(self, u: float) -> float:
        return 0.0

    def most(self, local: float) -> float:
        """The largest stationary raw lambda, whatever L_a does."""
        return inf

    def penalty(self, u: Tensor, v: Tensor) -> Tensor:
        return zeros_like(v)


@dataclass(frozen=True)
class InverseVariance(Checked, Guard):
    """g e^-v = g / sigma_align^2 (note 5): raw lambda <= L_b / (2 g)."""

    kind: ClassVar[str] = "inverse-variance"
    gamma: Annotated[Positive, Doc("adds gamma / sigma_align^2")] = 1e-3

    @property
    def floor(self) -> float:
        return 2 * self.gamma

    def most(self, local: float) -> float:
        return local / self.floor

    def penalty(self, u: Tensor, v: Tensor) -> Tensor:
        return self.gamma * (-v).exp()


@dataclass(frozen=True)
class LinearHinge(Checked, Guard):
    """g relu(lambda - lmax): as L_a -> 0, raw lambda -> max(lmax, PRIOR / (2 g))."""

    kind: ClassVar[str] = "linear-hinge"
    gamma: Annotated[Positive, Doc("weight of the penalty")] = 0.1
    maximum: Annotated[Positive, Doc("lambda above which the penalty acts")] = 50.0

    def push(self, lam: float) -> float:
        return 2 * self.gamma * lam if lam > self.maximum else 0.0

    def most(self, local: float) -> float:
        return max(self.maximum, 1 / (2 * self.gamma))

    def penalty(self, u: Tensor, v: Tensor) -> Tensor:
        return self.gamma * ((u - v).exp() - self.maximum).relu()


@dataclass(frozen=True)
class SquaredHinge(Checked, Guard):
    """g relu(lambda - lmax)^2: as L_a -> 0, raw lambda -> (lmax + sqrt(lmax^2 + PRIOR / g)) / 2."""

    kind: ClassVar[str] = "squared-hinge"
    gamma: Annotated[Positive, Doc("weight of the penalty")] = 1e-3
    maximum: Annotated[Positive, Doc("lambda above which the penalty acts")] = 50.0

    def push(self, lam: float) -> float:
        return 4 * self.gamma * lam * max(lam - self.maximum, 0.0)

    def most(self, local: float) -> float:
        return 0.5 * (self.maximum + sqrt(self.maximum**2 + 1 / self.gamma))

    def penalty(self, u: Tensor, v: Tensor) -> Tensor:
        return self.gamma * ((u - v).exp() - self.maximum).relu().square()


@dataclass(frozen=True)
class Bound(Checked, Guard):
    """The weights never feel more than `maximum`, whatever the scalars do."""

    kind: ClassVar[str] = "bound"
    maximum: Annotated[Positive, Doc("largest effective lambda")] = 50.0

    @property
    def cap(self) -> float:
        return self.maximum


@dataclass(frozen=True)
class LocalLog(Checked, Guard):
    """g u^2 = g (log sigma_local^2)^2 (public code after note 5): holds sigma_local near 1, and no lambda."""

    kind: ClassVar[str] = "local-log"
    gamma: Annotated[Positive, Doc("adds gamma (log sigma_local^2)^2")] = 1e-3

    def drag(self, u: float) -> float:
        return 4 * self.gamma * u

    def penalty(self, u: Tensor, v: Tensor) -> Tensor:
        return self.gamma * u.square()


@dataclass(frozen=True)
class Together(Checked, Guard):
    """The sum of several guards: penalties, floors, pushes and drags add up, and the lowest cap counts."""

    kind: ClassVar[str] = "together"
    guards: Annotated[tuple[Guard, ...], Doc("guards that act together")] = ()

    @property
    def floor(self) -> float:
        return sum(guard.floor for guard in self.guards)

    @property
    def cap(self) -> float:
        return min((guard.cap for guard in self.guards), default=inf)

    def most(self, local: float) -> float:
        return min((guard.most(local) for guard in self.guards), default=inf)

    def push(self, lam: float) -> float:
        return sum(guard.push(lam) for guard in self.guards)

    def drag(self, u: float) -> float:
        return sum(guard.drag(u) for guard in self.guards)

    def penalty(self, u: Tensor, v: Tensor) -> Tensor:
        return sum((guard.penalty(u, v) for guard in self.guards), zeros_like(v))


FREE = Together()  # no guard at all

GUARDS: dict[str, type[Guard]] = {
    "inverse-variance": InverseVariance,
    "linear-hinge": LinearHinge,
    "squared-hinge": SquaredHinge,
    "bound": Bound,
    "local-log": LocalLog,
    "together": Together,
}
