"""A head whose classes have directions of the same length."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import torch

from mooring.fusion._frozen_features import cholesky
from mooring.fusion._solvers import Fit, Ridge, Standardised, as_sure, drawn_scores, sureness
from mooring.schema import Checked, Doc, Positive


@dataclass(frozen=True)
class UnitColumns(Checked):
    """s = zW,  W_c = w_c / |w_c|,  w = (S + strength I)^-1 m',  p(c | x) ~ q_c exp(s_c / temperature)

    S is the covariance within classes, m the class means, q the frequencies (FedCOF: NeurIPS 2025). No class is ahead
    because its column is longer. Without a strength, that of `ridge`. The moments of scores of new images are those of
    `within-class`; at the temperature, draws of them are as sure as those of `ridge` on average. Deviations from
    FedCOF: features are standardised, and there are a prior and a temperature.
    """

    kind: ClassVar[str] = "unit-columns"
    strength: Annotated[
        Positive | None,
        Doc("penalty; `null`: by the least error of ridge regression"),
    ] = None

    def __call__(self, moments: Standardised) -> Fit:
        ridge = Ridge(self.strength)(moments)
        chosen = ridge.solver
        assert isinstance(chosen, Ridge)
        assert chosen.strength is not None
        within, n = moments.within, moments.n
        identity = torch.eye(len(within), dtype=within.dtype)
        inverse = torch.cholesky_inverse(cholesky(within + chosen.strength * identity))
        weight = inverse @ moments.means.T  # (d, C)
        lengths = weight.norm(dim=0)
        lengths = torch.where(lengths > 0, lengths, torch.ones_like(lengths))  # of a class that is alone
        leverage = (len(within) - chosen.strength * inverse.trace()) / n  # h / n
        kept = (1 - leverage).clamp(min=1 / n)
        weight /= lengths
        optimism = torch.diag(leverage / (kept * moments.shares) / lengths)
        fit = Fit(
            weight,
            torch.zeros_like(moments.shares),
            moments.means @ weight - optimism,
            weight.T @ within @ weight / kept.square(),
            solver=UnitColumns(float(chosen.strength)),
        )
        if ridge.error is None or ridge.error <= 0:
            return replace(fit, temperature=torch.ones_like(n))
        wanted = sureness(drawn_scores(moments, ridge) / (ridge.error.sqrt() / 2))
        found = as_sure(drawn_scores(moments, fit), wanted)
        return replace(fit, temperature=torch.full_like(n, found), error=ridge.error)
