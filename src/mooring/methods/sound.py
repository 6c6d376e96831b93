"""The sound parts together: what the notes' methods become without the defects of the published code."""

from mooring.client import ClientRecipe
from mooring.fusion import ClassExpert
from mooring.losses import CosineDistance, CrossEntropy, PrototypeSpread, SupCon
from mooring.methods.method import Method
from mooring.models.heads import UnitPrototypes
from mooring.weighting import Annealed, Fixed

_terms = (CrossEntropy(), SupCon(0.07), PrototypeSpread(1.0, "cosine"))
_free = Method(ClientRecipe(_terms, head=UnitPrototypes(16.0), clip="per-group"), ClassExpert())

SOUND: dict[str, Method] = {
    "moored": _free.aligned(
        Annealed(Fixed(1.0), "linear"),
        "the sound parts: unit prototypes that start at the anchors, cosine pull, class-expert fusion",
        term=CosineDistance(),
    ),
}
