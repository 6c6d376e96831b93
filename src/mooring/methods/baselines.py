"""What the field compares with: an ordinary classifier at every client, fused in the ways others proposed."""

from mooring.client import ClientRecipe, Views
from mooring.fusion import (
    CoBoosting,
    Dense,
    Fisher,
    NearestPrototype,
    OptimalTransport,
    OutputEnsemble,
    ParameterAverage,
    RegMean,
)
from mooring.losses import BalancedCrossEntropy, CrossEntropy
from mooring.methods.method import Method
from mooring.models.heads import FixedSimplex, Linear

_classifier = ClientRecipe((CrossEntropy(),), head=Linear(), views=Views(1))
_simplex = ClientRecipe((BalancedCrossEntropy(),), head=FixedSimplex(), views=Views(1))

BASELINES: dict[str, Method] = {
    "fedavg-1": Method(_classifier, ParameterAverage(), about="one round of FedAvg: parameters and buffers averaged"),
    "ensemble": Method(_classifier, OutputEnsemble(), about="all classifiers vote with their soft-max outputs"),
    "fedproto": Method(_classifier, NearestPrototype(), about="FedProto: nearest class mean, means shared once"),
    "fedetf": Method(_simplex, ParameterAverage(), about="FedETF: a classifier frozen to a simplex, averaged encoders"),
    "otfusion": Method(
        _classifier, OptimalTransport(), about="OTFusion: channels matched by optimal transport, averaged"
    ),
    "fedfisher": Method(_classifier, Fisher(), about="FedFisher: parameters averaged by diagonal Fisher information"),
    "regmean": Method(
        _classifier, RegMean(), about="RegMean: every layer the least-squares mean of the clients' layers"
    ),
    "dense": Method(_classifier, Dense(), about="DENSE: a generator's images distil the ensemble into one network"),
    "co-boosting": Method(
        _classifier, CoBoosting(), about="Co-Boosting: hard images and ensemble weights improve in turn"
    ),
}
