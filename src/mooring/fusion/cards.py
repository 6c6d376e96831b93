"""What the lists say about every rule: its group, one sentence, whose it is, and what it costs the server."""

from dataclasses import dataclass
from typing import Literal

FusionGroup = Literal[
    "ensembles: every prediction asks all clients' encoders",
    "one network by merging parameters",
    "one network by training at the server",
    "one head over statistics: clients train nothing",
]
ENSEMBLES: FusionGroup = "ensembles: every prediction asks all clients' encoders"
MERGED: FusionGroup = "one network by merging parameters"
TAUGHT: FusionGroup = "one network by training at the server"
STATISTICS: FusionGroup = "one head over statistics: clients train nothing"

Work = Literal["under a second", "seconds", "minutes, it trains"]  # of the server, for a few clients on a laptop


@dataclass(frozen=True)
class FusionCard:
    """One rule, for whoever must choose."""

    group: FusionGroup
    about: str
    source: str
    work: Work = "under a second"

    @property
    def trains_at_server(self) -> bool:
        """Does it train?"""
        return self.work == "minutes, it trains"


FUSION_CARDS: dict[str, FusionCard] = {
    "feature-ensemble": FusionCard(
        ENSEMBLES,
        "average of the clients' features, weighed by their shares of the data; nearest averaged prototype",
        "FAFI: Zeng et al., ICML 2025",
    ),
    "iffi": FusionCard(
        ENSEMBLES,
        "average of the clients' features, each weighed by how far it is from the client's feature of noise",
        "FAFI: Zeng et al., ICML 2025",
    ),
    "output-ensemble": FusionCard(
        ENSEMBLES, "average of the clients' soft-max outputs, weighed by their shares of the data", "Guha et al. 2019"
    ),
    "count-weighted": FusionCard(
        ENSEMBLES,
        "average of unit features; each prototype averaged over those clients that have images of its class",
        "Mooring, 2026",
    ),
    "class-expert": FusionCard(
        ENSEMBLES,
        "each class scored only by the clients that have images of it, weighed by how many",
        "Mooring, 2026",
    ),
    "nearest-prototype": FusionCard(
        ENSEMBLES, "nearest mean feature of a class, averaged over clients", "FedProto: Tan et al., AAAI 2022"
    ),
    "familiarity": FusionCard(
        ENSEMBLES,
        "average of unit features, weighted by data share and by how familiar the image is to the client",
        "Mooring, 2026",
    ),
    "standardised-sum": FusionCard(
        ENSEMBLES,
        "sum of the clients' features, each brought to mean 0 and deviation 1; nearest anchor",
        "FedSRA: UpcNlp 2026",
    ),
    "calibrated": FusionCard(
        ENSEMBLES,
        "another rule (fusion.rule) whose scores are divided by one temperature fitted on validation images",
        "Guo et al., ICML 2017",
    ),
    "parameter-average": FusionCard(
        MERGED,
        "average of all weights and buffers, by shares of the data",
        "FedAvg: McMahan et al., AISTATS 2017",
    ),
    "ot": FusionCard(
        MERGED,
        "channels of all clients matched by optimal transport, then averaged",
        "OTFusion: Singh, Jaggi, NeurIPS 2020",
        "seconds",
    ),
    "fisher": FusionCard(
        MERGED,
        "average of all weights, each by how much the client's images determine it (Fisher information)",
        "FedFisher: Jhunjhunwala et al., AISTATS 2024",
    ),
    "regmean": FusionCard(
        MERGED,
        "each layer the least-squares fit to what the clients' layers answer to their own inputs",
        "RegMean: Jin et al., ICLR 2023",
    ),
    "dense": FusionCard(
        TAUGHT,
        "a network trained to answer as the clients' average does, on images that a generator makes",
        "DENSE: Zhang et al., NeurIPS 2022",
        "minutes, it trains",
    ),
    "co-boosting": FusionCard(
        TAUGHT,
        "as dense, on images made harder, and with the clients' weights in the average learned too",
        "Co-Boosting: Dai et al., ICLR 2024",
        "minutes, it trains",
    ),
    "distil": FusionCard(
        TAUGHT,
        "a network trained to answer as another rule (fusion.teacher) does, on drawn or public images",
        "Hinton et al. 2015",
        "minutes, it trains",
    ),
    "linear-head": FusionCard(
        STATISTICS,
        "ridge regression on the sums of all clients' features and their products, with probabilities",
        "Mooring, 2026; the sums are those of AFL",
        "seconds",
    ),
    "analytic": FusionCard(
        STATISTICS,
        "ridge regression on the sums of all clients' features and their products",
        "AFL: He et al., CVPR 2025",
        "seconds",
    ),
    "gaussian-head": FusionCard(
        STATISTICS,
        "each class a Gaussian with the mean and covariance that the clients' sums give",
        "FedCGS: Guan et al., AAAI 2025",
        "seconds",
    ),
    "mixture": FusionCard(
        STATISTICS,
        "a linear head trained on features drawn from the clients' Gaussian mixtures",
        "FedPFT: Beitollahi et al. 2024",
        "seconds",
    ),
}
