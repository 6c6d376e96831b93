"""All fusion rules by name. A new rule is its own file and one entry here."""

from mooring.fusion._analytic import Analytic
from mooring.fusion._base import Fusion
from mooring.fusion._calibrated import Calibrated
from mooring.fusion._class_expert import ClassExpert
from mooring.fusion._count_weighted import CountWeighted
from mooring.fusion._distillation.co_boosting import CoBoosting
from mooring.fusion._distillation.dense import Dense
from mooring.fusion._distillation.distil import Distil
from mooring.fusion._familiarity import Familiarity
from mooring.fusion._feature_ensemble import FeatureEnsemble
from mooring.fusion._fisher import Fisher
from mooring.fusion._gaussian_head import GaussianHead
from mooring.fusion._iffi import Iffi
from mooring.fusion._linear_head import LinearHeadFusion
from mooring.fusion._mixture import Mixture
from mooring.fusion._nearest_prototype import NearestPrototype
from mooring.fusion._ot import OptimalTransport
from mooring.fusion._output_ensemble import OutputEnsemble
from mooring.fusion._parameter_average import ParameterAverage
from mooring.fusion._regmean import RegMean
from mooring.fusion._standardised_sum import StandardisedSum
from mooring.fusion._trained_and_sums import TrainedAndSums

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
    # both in one upload
    "trained-and-sums": TrainedAndSums,
    # statistics that add up
    "linear-head": LinearHeadFusion,
    "analytic": Analytic,
    "gaussian-head": GaussianHead,
    "mixture": Mixture,
}
