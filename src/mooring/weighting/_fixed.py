"""One number for every client and every step."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from torch import Generator, Tensor, tensor

from mooring.schema import Checked, Doc, NonNegative
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, pull


@dataclass(frozen=True)
class Fixed(Checked):
    """lambda = value (V7: 5)."""

    kind: ClassVar[str] = "fixed"
    value: Annotated[NonNegative, Doc("lambda, the weight of the alignment loss")] = 5.0

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ConstantBalancer(self.value)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        return Equilibrium(self.value, self.value)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.value, bounded=True)


class ConstantBalancer(Balancer):
    """A lambda that never moves."""

    lam: Tensor

    def __init__(self, lam: float) -> None:
        super().__init__()
        self.register_buffer("lam", tensor(lam))

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        return pull(self.lam, self.lam)
