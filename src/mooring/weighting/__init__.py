"""The family of alignment weights: how hard the anchor pulls, as small composable values."""

from mooring.weighting.annealed import Annealed
from mooring.weighting.base import Balancer, Stationary, Weighting
from mooring.weighting.fixed import Fixed

WEIGHTINGS: dict[str, type[Weighting]] = {
    "fixed": Fixed,
    "annealed": Annealed,
}

__all__ = ["WEIGHTINGS", "Annealed", "Balancer", "Fixed", "Stationary", "Weighting"]
