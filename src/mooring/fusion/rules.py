"""All fusion rules by name. A new rule is its own file and one entry here."""

from mooring.fusion.analytic import Analytic
from mooring.fusion.base import Fusion
from mooring.fusion.calibrated import Calibrated
from mooring.fusion.class_expert import ClassExpert
from mooring.fusion.count_weighted import CountWeighted
from mooring.fusion.distillation.co_boosting import CoBoosting
from mooring.fusion.distillation.dense import Dense
from mooring.fusion.distillation.distil import Distil
from mooring.fusion.familiarity import Familiarity
from mooring.fusion.feature_ensemble import FeatureEnsemble
from mooring.fusion.fisher import Fisher
from mooring.fusion.gaussian_head import GaussianHead
from mooring.fusion.iffi import Iffi
from mooring.fusion.linear_head import LinearHeadFusion
from mooring.fusion.mixture import Mixture
from mooring.fusion.nearest_prototype import NearestPrototype
from mooring.fusion.ot import OptimalTransport
from mooring.fusion.output_ensemble import OutputEnsemble
from mooring.fusion.parameter_average import ParameterAverage
from mooring.fusion.regmean import RegMean
from mooring.fusion.standardised_sum import StandardisedSum

FUSIONS: dict[str, type[Fusion]] = {
    # as published
    "feature-ensemble": FeatureEnsemble,
    "iffi": Iffi,
    "output-ensemble": OutputEnsemble,
    # sound under skew
    "count-weighted": CountWeighted,
    "class-expert": ClassExpert,
    "nearest-prototype": NearestPrototype,
    "familiarity": Familiarity,
    "standardised-sum": StandardisedSum,
    "calibrated": Calibrated,
    # one network by merging parameters
    "parameter-average": ParameterAverage,
    "ot": OptimalTransport,
    "fisher": Fisher,
    "regmean": RegMean,
    # one network by training at the server
    "dense": Dense,
    "co-boosting": CoBoosting,
    "distil": Distil,
    # statistics that add up
    "linear-head": LinearHeadFusion,
    "analytic": Analytic,
    "gaussian-head": GaussianHead,
    "mixture": Mixture,
}
