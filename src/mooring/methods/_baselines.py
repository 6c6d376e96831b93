"""What the field compares with: ordinary classifiers fused as others proposed, and clients that train nothing."""

from mooring.client import Alignment, ClientRecipe, Views
from mooring.fusion import (
    Analytic,
    CoBoosting,
    Dense,
    Fisher,
    GaussianHead,
    LinearHeadFusion,
    Mixture,
    NearestPrototype,
    OptimalTransport,
    OutputEnsemble,
    ParameterAverage,
    RegMean,
    StandardisedSum,
    TrainedAndSums,
)
from mooring.losses import BalancedCrossEntropy, CrossEntropy, FeatureCosine, SupCon
from mooring.methods._method import Method
from mooring.models import ByImages, FixedSimplex, Linear, PublicEncoder, SimplexAtTemperature
from mooring.weighting import Fixed

_classifier = ClientRecipe((CrossEntropy(),), head=Linear(), views=Views(1))
_simplex = ClientRecipe((BalancedCrossEntropy(),), head=FixedSimplex(), views=Views(1))
_regular = ClientRecipe(
    (CrossEntropy(), SupCon(0.1)), Alignment(None, Fixed(0.5), FeatureCosine()), SimplexAtTemperature(0.1)
)

BASELINES: dict[str, Method] = {
    "fedavg-1": Method(
        _classifier,
        ParameterAverage(),
        about="one round of FedAvg: parameters and buffers averaged",
        reference="FedAvg: McMahan et al., AISTATS 2017",
    ),
    "ensemble": Method(
        _classifier, OutputEnsemble(), about="average of the clients' soft-max outputs", reference="Guha et al. 2019"
    ),
    "fedproto": Method(
        _classifier,
        NearestPrototype(),
        about="FedProto: nearest class mean, means shared once",
        reference="FedProto: Tan et al., AAAI 2022",
    ),
    "fedetf": Method(
        _simplex,
        ParameterAverage(),
        about="FedETF: a classifier frozen to a simplex, averaged encoders",
        reference="FedETF: Li et al., ICCV 2023",
    ),
    "fedsra": Method(
        _regular,
        StandardisedSum(),
        about="FedSRA: features pulled to a frozen simplex; standardised, then summed",
        reference="FedSRA: UpcNlp 2026",
    ),
    "otfusion": Method(
        _classifier,
        OptimalTransport(),
        about="OTFusion: channels matched by optimal transport, averaged",
        reference="OTFusion: Singh, Jaggi, NeurIPS 2020",
    ),
    "fedfisher": Method(
        _classifier,
        Fisher(),
        about="FedFisher: parameters averaged by diagonal Fisher information",
        reference="FedFisher: Jhunjhunwala et al., AISTATS 2024",
    ),
    "regmean": Method(
        _classifier,
        RegMean(),
        about="RegMean: every layer the least-squares mean of the clients' layers",
        reference="RegMean: Jin et al., ICLR 2023",
    ),
    "dense": Method(
        _classifier,
        Dense(),
        about="DENSE: a student of the ensemble, on generated images",
        reference="DENSE: Zhang et al., NeurIPS 2022",
    ),
    "co-boosting": Method(
        _classifier,
        CoBoosting(),
        about="Co-Boosting: hard images and ensemble weights improve in turn",
        reference="Co-Boosting: Dai et al., ICLR 2024",
    ),
}


TRAINED_AND_SUMS: dict[str, Method] = {
    "trained-and-sums": Method(
        _regular,
        TrainedAndSums(),
        about="clients train and also send sums of fixed features",
        reference="Mooring, 2026; trained as FedSRA: UpcNlp 2026",
    ),
}

nothing = ClientRecipe(())  # one pass over the images, and statistics that add up

MOORING: dict[str, Method] = {
    "mooring": Method(
        nothing,
        LinearHeadFusion(ByImages()),
        about="sums of features of a fixed encoder; one linear head",
        reference="Mooring, 2026; the sums are those of AFL: He et al., CVPR 2025",
    ),
}

STATISTICS: dict[str, Method] = {
    "public-encoder": Method(
        nothing,
        LinearHeadFusion(PublicEncoder()),
        about="the server trains an encoder on public images; then sums",
        reference="Mooring, 2026; the sums are those of AFL: He et al., CVPR 2025",
    ),
    "afl": Method(
        nothing,
        Analytic(),
        about="AFL: sums of features and products; one ridge regression",
        reference="AFL: He et al., CVPR 2025",
    ),
    "fedcgs": Method(
        nothing,
        GaussianHead(),
        about="sums that give class means and one covariance; a Gaussian for each class",
        reference="FedCGS: Guan et al., AAAI 2025",
    ),
    "fedpft": Method(
        nothing,
        Mixture(),
        about="a Gaussian mixture per class; the server trains a head on its draws",
        reference="FedPFT: Beitollahi et al. 2024",
    ),
}
