"""The encoder that a job looks through, by its SHA-256: a site must have this very one."""

from mooring.fusion import Fusion
from mooring.methods.method import maps_of
from mooring.models.encoders.efficientnet import LITES
from mooring.models.feature_maps import Encoder
from mooring.models.feature_maps.content import SHA256
from mooring.trees import by_content, to_tree


def encoder_named(fusion: Fusion | None) -> str | None:
    """`efficientnet-lite0 sha256:...` for one of the house, `sha256:...` for a file; None where nothing was trained."""
    for features in () if fusion is None else maps_of(fusion):
        if isinstance(features, Encoder):
            return f"{features.weights} {SHA256}{LITES[features.weights].sha256}"
        file = to_tree(features, by_content).get("path")
        if file is not None:
            return str(file)
    return None


def in_words(encoder: str) -> str:
    """For people: what it is, and who has it."""
    if encoder.startswith(SHA256):
        digest = encoder.removeprefix(SHA256).partition(":")[0]
        return f"a file that travels beside the job (--encoder FILE), SHA-256 {digest}"
    name, _, digest = encoder.partition(f" {SHA256}")
    return f"{name}, which comes with mooring[encoder], SHA-256 {digest}"
