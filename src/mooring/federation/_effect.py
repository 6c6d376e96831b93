"""What leaving a site out would do to the accuracy of the other sites, estimated from their sums alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from mooring.federation._comparisons import within_of
from mooring.federation._rules import ROUNDING, class_means
from mooring.fusion import FrozenFeatures, Fusion, Server
from mooring.models import Blueprint
from mooring.processes import threads
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import Moments
from mooring.wording import percent

DRAWS = 2000  # for each site
MOST_WITNESSES = 5  # the largest other sites


@dataclass(frozen=True)
class Effect:
    """Mean accuracy at other sites that the model has not seen, with the site and without it."""

    used: float
    left_out: float
    sites: int

    @property
    def text(self) -> str:
        others = "the other site" if self.sites == 1 else f"{self.sites} other sites"
        return f"estimated accuracy at {others} {percent(self.used)} with it, {percent(self.left_out)} without it"


@dataclass
class Effects:
    """The effect of each of these uploads on the others.

    For every other site j, the model of all sites but j, with and without the judged one, predicts features drawn from
    j's moments, x ~ N(m_c, S) with c as frequent as at j. No image is needed. Features are not Gaussian: the figure is
    an estimate, and the difference says more than the level.
    """

    fusion: Fusion
    blueprint: Blueprint
    uploads: Sequence[Upload]
    _accuracy: dict[tuple[int, frozenset[int]], float] = field(default_factory=dict, repr=False)

    def of(self, client: int) -> Effect | None:
        """None where the sums do not tell: other parts than shared moments, or fewer than two other sites."""
        parts = list(self.fusion.needs)
        others = sorted((u for u in self.uploads if u.client != client), key=lambda u: -u.samples)[:MOST_WITNESSES]
        if len(parts) != 1 or not isinstance(parts[0], Moments) or parts[0].second != "shared" or len(others) < 2:
            return None
        pairs = []
        for witness in others:
            used = self.accuracy(parts[0], witness, frozenset({witness.client}))
            left_out = self.accuracy(parts[0], witness, frozenset({witness.client, client}))
            if used is None or left_out is None:
                return None
            pairs.append((used, left_out))
        used_mean, left_mean = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        return Effect(used_mean, left_mean, len(pairs))

    def accuracy(self, part: Moments, witness: Upload, without: frozenset[int]) -> float | None:
        """The accuracy of a model without some sites on what the witness's moments describe."""
        key = witness.client, without
        if key not in self._accuracy:
            with threads(1):
                server = Server(self.blueprint)
                predictor = self.fusion([u for u in self.uploads if u.client not in without], server)
                if not isinstance(predictor, FrozenFeatures):
                    return None
                self._accuracy[key] = drawn_accuracy(predictor, part, witness)
        return self._accuracy[key]


def drawn_accuracy(predictor: FrozenFeatures, part: Moments, witness: Upload) -> float:
    totals = part.total([witness])
    within, _ = within_of(part, totals)
    jitter = ROUNDING * within.trace() + torch.finfo(within.dtype).tiny
    factor, _ = torch.linalg.cholesky_ex(within + jitter * torch.eye(len(within), dtype=within.dtype))
    rng = generator(0, "effect")
    labels = torch.multinomial(totals.counts, DRAWS, replacement=True, generator=rng)
    noise = torch.randn(DRAWS, len(within), generator=rng, dtype=within.dtype)
    x = class_means(totals)[labels] + noise @ factor.T
    known = predictor.head(x)  # (B, classes seen)
    chosen = predictor.seen.nonzero()[:, 0][known.argmax(1)]
    return (chosen == labels).double().mean().item()
