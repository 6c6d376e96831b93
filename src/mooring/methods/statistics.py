"""Clients that train nothing: one pass over their images, and statistics that add up."""

from mooring.client import ClientRecipe
from mooring.fusion import Analytic, GaussianHead, Mixture
from mooring.methods.method import Method

nothing = ClientRecipe(())

STATISTICS: dict[str, Method] = {
    "afl": Method(nothing, Analytic(), about="sums of X'X and X'Y, one ridge regression: any partition, one answer"),
    "fedcgs": Method(nothing, GaussianHead(), about="class means and a shared covariance that add up: a Bayes head"),
    "fedpft": Method(nothing, Mixture(), about="a Gaussian mixture per class; the server trains a head on its draws"),
}
