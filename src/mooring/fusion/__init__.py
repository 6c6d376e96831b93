"""What the server does with the uploads: admission, one small file per rule, and predictors that can be saved."""

from mooring.fusion.admit import Admission, Rejection, admit, fuse
from mooring.fusion.analytic import Analytic
from mooring.fusion.base import Fusion, Server
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
from mooring.fusion.predictor import Predictor
from mooring.fusion.regmean import RegMean
from mooring.fusion.rules import FUSIONS
from mooring.fusion.saved import LoadedPredictor, decode_predictor, encode_predictor, predictor_in_pieces
from mooring.fusion.standardised_sum import StandardisedSum

__all__ = [
    "FUSIONS",
    "Admission",
    "Analytic",
    "Calibrated",
    "ClassExpert",
    "CoBoosting",
    "CountWeighted",
    "Dense",
    "Distil",
    "Familiarity",
    "FeatureEnsemble",
    "Fisher",
    "Fusion",
    "GaussianHead",
    "Iffi",
    "LinearHeadFusion",
    "LoadedPredictor",
    "Mixture",
    "NearestPrototype",
    "OptimalTransport",
    "OutputEnsemble",
    "ParameterAverage",
    "Predictor",
    "RegMean",
    "Rejection",
    "Server",
    "StandardisedSum",
    "admit",
    "decode_predictor",
    "encode_predictor",
    "fuse",
    "predictor_in_pieces",
]
