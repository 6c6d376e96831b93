"""The family of alignment weights: how hard the anchor pulls, as small composable values."""

from mooring.weighting.base import Balancer, Equilibrium, LambdaBounds, Weighting, pull
from mooring.weighting.closed_form import ClosedForm
from mooring.weighting.confidence import ByConfidence
from mooring.weighting.entropy import ByEntropy
from mooring.weighting.fixed import Fixed
from mooring.weighting.gradients import GradientNormalised
from mooring.weighting.hypergradient import Hypergradient
from mooring.weighting.ramp import Ramp
from mooring.weighting.shares import DynamicAverage, RandomShares, SoftOptimalUncertainty
from mooring.weighting.uncertainty import Uncertainty
from mooring.weighting.wrappers import Annealed, Probed

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
    "WEIGHTINGS",
    "Annealed",
    "Balancer",
    "ByConfidence",
    "ByEntropy",
    "ClosedForm",
    "DynamicAverage",
    "Equilibrium",
    "Fixed",
    "GradientNormalised",
    "Hypergradient",
    "LambdaBounds",
    "Probed",
    "Ramp",
    "RandomShares",
    "SoftOptimalUncertainty",
    "Uncertainty",
    "Weighting",
    "pull",
]
