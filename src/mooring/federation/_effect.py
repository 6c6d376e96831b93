"""What leaving a site out would do to the accuracy of the other sites, estimated from their sums alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.federation._class_positions import within_of
from mooring.federation._comparisons import FEWEST_WITNESSES
from mooring.federation._rules import ROUNDING
from mooring.fusion import Fusion, standardise_moments
from mooring.processes import threads
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import Moments, SummedMoments
from mooring.wording import percent

DRAWS = 2000  # for each site
STRENGTH = 0.1  # of the regression, on standardised features
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


@dataclass(frozen=True)
class Effects:
    """The effect of each of these uploads on the others.

    For every other site j, a ridge regression on the sums of all sites but j, with and without the judged one, predicts
    features drawn from j's moments, x ~ N(m_c, S) with c as frequent as at j. No image is needed. Features are not
    Gaussian, and the strength is fixed: the difference says more than the level.
    """

    fusion: Fusion
    uploads: Sequence[Upload]

    def of(self, client: int) -> Effect | None:
        """None where the sums do not tell: other parts than shared moments, or fewer than two other sites."""
        part = next((part for part in self.fusion.needs if isinstance(part, Moments)), None)
        others = sorted((u for u in self.uploads if u.client != client), key=lambda u: -u.samples)[:MOST_WITNESSES]
        if part is None or part.second != "shared" or len(others) < FEWEST_WITNESSES:
            return None
        with threads(1):  # the same figures on every machine
            rows = [self._accuracies(part, client, witness) for witness in others]
        used, left_out = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        return Effect(used, left_out, len(rows))

    def _accuracies(self, part: Moments, client: int, witness: Upload) -> list[float]:
        """On what the witness's moments describe: with the site, and without it."""
        x, labels = drawn_features(part, witness)
        without = ({witness.client}, {witness.client, client})
        models = [part.total([u for u in self.uploads if u.client not in out]) for out in without]
        return [(predicted(totals, x) == labels).double().mean().item() for totals in models]


def drawn_features(part: Moments, witness: Upload) -> tuple[Tensor, Tensor]:
    """Features (DRAWS, d) and labels as the moments of a site describe them."""
    totals = part.total([witness])
    within, _ = within_of(part, totals)
    jitter = ROUNDING * within.trace() + torch.finfo(within.dtype).tiny
    factor, _ = torch.linalg.cholesky_ex(within + jitter * torch.eye(len(within), dtype=within.dtype))
    rng = generator(0, "effect")
    labels = torch.multinomial(totals.counts, DRAWS, replacement=True, generator=rng)
    noise = torch.randn(DRAWS, len(within), generator=rng, dtype=within.dtype)
    return totals.means[labels] + noise @ factor.T, labels


def predicted(totals: SummedMoments, x: Tensor) -> Tensor:
    """The class of each row by W = (T + STRENGTH I)^-1 Z'Y/n, as in `Ridge`."""
    moments = standardise_moments(totals)
    penalised = moments.covariance + STRENGTH * torch.eye(len(moments.covariance), dtype=x.dtype)
    weight = torch.linalg.solve(penalised, moments.cross)
    scores = (x - moments.centre) * moments.inverse @ weight + moments.shares
    return (totals.counts > 0).nonzero()[:, 0][scores.argmax(1)]
