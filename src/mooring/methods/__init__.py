"""Names -> compositions. One name is one formula, for ever; version names of the lab notes live only here."""

from dataclasses import replace

from mooring.client import ClientRecipe
from mooring.fusion import CountWeighted, FeatureEnsemble
from mooring.losses import CosineDistance, CrossEntropy, FeatureToPrototype, PrototypeSpread, SupCon
from mooring.methods.method import Method
from mooring.models.heads import UnitPrototypes
from mooring.weighting import Annealed, Fixed

FAFI = (CrossEntropy(), SupCon(0.07), FeatureToPrototype(1.0), PrototypeSpread(1.0))

_v4 = Method(ClientRecipe(FAFI), FeatureEnsemble(), about="FAFI: contrast and prototypes, no anchor")
_sound = Method(
    ClientRecipe(
        (CrossEntropy(), SupCon(0.07), PrototypeSpread(1.0, "cosine")), head=UnitPrototypes(16.0), clip="per-group"
    ),
    CountWeighted(),
)

METHODS: dict[str, Method] = {
    "v4": _v4,
    "v7": _v4.aligned(Annealed(Fixed(5.0), "linear"), about="moored to a simplex by lambda = 5, faded out linearly"),
    "moored": _sound.aligned(
        Annealed(Fixed(1.0), "linear"),
        term=CosineDistance(),
        about="the sound parts: unit prototypes that start at the anchors, cosine pull, count-weighted fusion",
    ),
    "local-only": replace(_v4, fusion=None, about="control: nothing is fused; the mean of the clients' own accuracies"),
    "centralised": replace(_v4, shards="pooled", about="control: all data in one place, same budget of epochs"),
}

__all__ = ["FAFI", "METHODS", "Method"]
