"""The family of alignment weights: how hard the anchor pulls, as small composable values."""

from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, Weighting, full_local_weight, pull
from mooring.weighting._closed_form import ClosedForm
from mooring.weighting._confidence import ByConfidence
from mooring.weighting._equilibrium import stability_limit
from mooring.weighting._fixed import ByEntropy, Fixed, Ramp
from mooring.weighting._gradients import GradientNormalised, Hypergradient
from mooring.weighting._guards import (
    GUARDS,
    Bound,
    Guard,
    InverseVariance,
    LinearHinge,
    LocalLog,
    SquaredHinge,
    Together,
)
from mooring.weighting._shares import DynamicAverage, RandomShares, SoftOptimalUncertainty
from mooring.weighting._uncertainty import STARTS, FromEntropy, Sigma, Start, Uncertainty, Values
from mooring.weighting._wrappers import Annealed, Probed

WEIGHTINGS: dict[str, type[Weighting]] = {
    "annealed": Annealed,
    "by-confidence": ByConfidence,
    "by-entropy": ByEntropy,
    "closed-form": ClosedForm,
    "dwa": DynamicAverage,
    "fixed": Fixed,
    "gradient-normalised": GradientNormalised,
    "hypergradient": Hypergradient,
    "probed": Probed,
    "ramp": Ramp,
    "random": RandomShares,
    "uncertainty": Uncertainty,
    "uw-so": SoftOptimalUncertainty,
}

__all__ = [
    "GUARDS",
    "STARTS",
    "WEIGHTINGS",
    "Annealed",
    "Balancer",
    "Bound",
    "ByConfidence",
    "ByEntropy",
    "ClosedForm",
    "DynamicAverage",
    "Equilibrium",
    "Fixed",
    "FromEntropy",
    "GradientNormalised",
    "Guard",
    "Hypergradient",
    "InverseVariance",
    "LambdaBounds",
    "LinearHinge",
    "LocalLog",
    "Probed",
    "Ramp",
    "RandomShares",
    "Sigma",
    "SoftOptimalUncertainty",
    "SquaredHinge",
    "Start",
    "Together",
    "Uncertainty",
    "Values",
    "Weighting",
    "full_local_weight",
    "pull",
    "stability_limit",
]
