"""FAFI (V4), what every method of the notes builds on, and the two controls it is measured against."""

from dataclasses import replace

from mooring.client import ClientRecipe
from mooring.fusion import FeatureEnsemble
from mooring.losses.fafi import FAFI
from mooring.methods.method import Method

V4 = Method(ClientRecipe(FAFI), FeatureEnsemble(), about="FAFI: contrast and prototypes, no anchor")

PLAIN: dict[str, Method] = {
    "v4": V4,
    "local-only": replace(V4, fusion=None, about="control: nothing is fused; the mean of the clients' own accuracies"),
    "centralised": replace(V4, shards="pooled", about="control: all data in one place, same budget of epochs"),
}
