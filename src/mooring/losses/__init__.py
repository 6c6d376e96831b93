"""Loss terms: each a frozen value that maps a step to a scalar."""

from mooring.losses._alignment import CosineDistance, MeanSquared
from mooring.losses._classification import (
    BalancedCrossEntropy,
    CrossEntropy,
    FeatureCosine,
    FeatureToPrototype,
    PrototypeSpread,
)
from mooring.losses._contrast import BankAttraction, BankContrast, MemoryContrast, SupCon, smallest_supcon
from mooring.losses._term import LossTerm, extra_input, looks_at_views, require_scalar

LOSSES: dict[str, type[LossTerm]] = {
    "balanced-cross-entropy": BalancedCrossEntropy,
    "bank-attraction": BankAttraction,
    "bank-contrast": BankContrast,
    "cross-entropy": CrossEntropy,
    "memory-contrast": MemoryContrast,
    "supcon": SupCon,
    "feature-cosine": FeatureCosine,
    "feature-to-prototype": FeatureToPrototype,
    "prototype-spread": PrototypeSpread,
    "mean-squared": MeanSquared,
    "cosine-distance": CosineDistance,
}

FAFI = (CrossEntropy(), SupCon(0.07), FeatureToPrototype(1.0), PrototypeSpread(1.0))  # base loss of all note methods

__all__ = [
    "FAFI",
    "LOSSES",
    "BalancedCrossEntropy",
    "BankAttraction",
    "BankContrast",
    "CosineDistance",
    "CrossEntropy",
    "FeatureCosine",
    "FeatureToPrototype",
    "LossTerm",
    "MeanSquared",
    "MemoryContrast",
    "PrototypeSpread",
    "SupCon",
    "extra_input",
    "looks_at_views",
    "require_scalar",
    "smallest_supcon",
]
