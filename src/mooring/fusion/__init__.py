"""What the server does with the uploads: one small file per rule."""

from mooring.fusion.base import Fusion
from mooring.fusion.class_expert import ClassExpert
from mooring.fusion.count_weighted import CountWeighted
from mooring.fusion.feature_ensemble import FeatureEnsemble

FUSIONS: dict[str, type[Fusion]] = {
    "class-expert": ClassExpert,
    "feature-ensemble": FeatureEnsemble,
    "count-weighted": CountWeighted,
}

__all__ = ["FUSIONS", "ClassExpert", "CountWeighted", "FeatureEnsemble", "Fusion"]
