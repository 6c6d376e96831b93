"""One number per client, from how even its labels are."""

from dataclasses import dataclass
from math import log2
from typing import Annotated, ClassVar

from torch import Generator

from mooring.schema import Checked, Doc, NonNegative
from mooring.types import ClientFacts, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds
from mooring.weighting._fixed import ConstantBalancer


@dataclass(frozen=True)
class ByEntropy(Checked):
    """lambda_k = lmin + H_k / log2 C (lmax - lmin), H_k the entropy of the client's labels in bits (V9)."""

    kind: ClassVar[str] = "by-entropy"
    minimum: Annotated[NonNegative, Doc("lambda of a client with one label")] = 0.1
    maximum: Annotated[NonNegative, Doc("lambda of a client with all labels alike")] = 10.0

    def value(self, facts: ClientFacts) -> float:
        return self.minimum + evenness(facts.label_counts) * (self.maximum - self.minimum)

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ConstantBalancer(self.value(facts))

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        return Equilibrium(self.value(facts), self.value(facts))

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.value(facts), bounded=True)


def evenness(label_counts: tuple[int, ...]) -> float:
    """H / log2 C, in [0, 1]; 0 for a single class and for no data at all."""
    if len(label_counts) < 2:
        return 0.0
    total = sum(label_counts)
    shares = [count / total for count in label_counts if count]
    return abs(sum(p * log2(p) for p in shares)) / log2(len(label_counts))
