"""What the server does with the uploads: admission, one small file per rule, and predictors that can be saved."""

from mooring.fusion._admit import Admission, Rejection, admit, fuse
from mooring.fusion._analytic import Analytic
from mooring.fusion._base import ENSEMBLES, TRAINS_AT_SERVER, Fusion, Server
from mooring.fusion._calibrated import Calibrated
from mooring.fusion._class_expert import ClassExpert
from mooring.fusion._count_weighted import CountWeighted
from mooring.fusion._distillation.co_boosting import CoBoosting
from mooring.fusion._distillation.dense import Dense
from mooring.fusion._distillation.distil import Distil
from mooring.fusion._distillation.student import StudentTraining
from mooring.fusion._distillation.supplies import SUPPLIES, Supply
from mooring.fusion._distillation.synthesis import Synthesis
from mooring.fusion._ensemble import Ensemble, Members
from mooring.fusion._familiarity import Familiarity
from mooring.fusion._feature_ensemble import FeatureEnsemble
from mooring.fusion._fisher import Fisher
from mooring.fusion._frozen_features import FrozenFeatures
from mooring.fusion._gaussian_head import GaussianHead, Gaussians
from mooring.fusion._iffi import Iffi
from mooring.fusion._linear_head import LinearHeadFusion, gaussian_scores
from mooring.fusion._mixture import Mixture
from mooring.fusion._nearest_prototype import NearestPrototype
from mooring.fusion._ot import OptimalTransport
from mooring.fusion._output_ensemble import OutputEnsemble
from mooring.fusion._parameter_average import ParameterAverage
from mooring.fusion._personal import can_be_personal, class_prior, mean_on_own_labels, personalise
from mooring.fusion._predictor import Confidence, FittedHead, Predictor, head_cells
from mooring.fusion._regmean import RegMean
from mooring.fusion._rules import FUSIONS
from mooring.fusion._saved import NO_TENSORS, LoadedPredictor, decode_predictor, encode_predictor, predictor_in_pieces
from mooring.fusion._solvers import Ridge, Solver, standardise_moments
from mooring.fusion._standardised_sum import StandardisedSum
from mooring.fusion._trained_and_sums import TrainedAndSums
from mooring.fusion._typical import PREFIX as TYPICAL
from mooring.fusion._typical import Typical, typical_of
from mooring.fusion._within_class import ALL_HEADS, HEADS, SOLVERS, heads_of

__all__ = [
    "ALL_HEADS",
    "ENSEMBLES",
    "FUSIONS",
    "HEADS",
    "NO_TENSORS",
    "SOLVERS",
    "SUPPLIES",
    "TRAINS_AT_SERVER",
    "TYPICAL",
    "Admission",
    "Analytic",
    "Calibrated",
    "ClassExpert",
    "CoBoosting",
    "Confidence",
    "CountWeighted",
    "Dense",
    "Distil",
    "Ensemble",
    "Familiarity",
    "FeatureEnsemble",
    "Fisher",
    "FittedHead",
    "FrozenFeatures",
    "Fusion",
    "GaussianHead",
    "Gaussians",
    "Iffi",
    "LinearHeadFusion",
    "LoadedPredictor",
    "Members",
    "Mixture",
    "NearestPrototype",
    "OptimalTransport",
    "OutputEnsemble",
    "ParameterAverage",
    "Predictor",
    "RegMean",
    "Rejection",
    "Ridge",
    "Server",
    "Solver",
    "StandardisedSum",
    "StudentTraining",
    "Supply",
    "Synthesis",
    "TrainedAndSums",
    "Typical",
    "admit",
    "can_be_personal",
    "class_prior",
    "decode_predictor",
    "encode_predictor",
    "fuse",
    "gaussian_scores",
    "head_cells",
    "heads_of",
    "mean_on_own_labels",
    "personalise",
    "predictor_in_pieces",
    "standardise_moments",
    "typical_of",
]
