"""The encoder that a job or a model looks through, by its SHA-256: whoever computes with it must have this very one."""

from mooring.fusion import Fusion
from mooring.methods.method import maps_of
from mooring.models.encoders.efficientnet import LITES
from mooring.models.feature_maps import EncoderFeatures, FeatureMap
from mooring.models.feature_maps.content import SHA256, digest_in
from mooring.trees import by_file_hash, to_tree

WITH_THE_JOB, NOT_INSIDE = "travels beside the job", "is not in the model"


def encoder_named(fusion: Fusion | None) -> str | None:
    """The first encoder of a rule; None where nothing was trained."""
    names = [encoder_name(features) for features in (() if fusion is None else maps_of(fusion))]
    return next((name for name in names if name is not None), None)


def encoder_name(features: FeatureMap) -> str | None:
    """`efficientnet-lite0 sha256:...` for one of the house, `sha256:...` for a file; None where nothing was trained."""
    if isinstance(features, EncoderFeatures):
        return f"{features.weights} {SHA256}{LITES[features.weights].sha256}"
    file = to_tree(features, by_file_hash).get("path")
    return None if file is None else str(file)


def is_file(encoder: str) -> bool:
    """Is it known by its content alone?"""
    return encoder.startswith(SHA256)


def in_words(encoder: str, where: str = WITH_THE_JOB) -> str:
    """For people: what it is, and who has it."""
    if is_file(encoder):
        return f"a file that {where} (--encoder FILE), SHA-256 {digest_in(encoder)}"
    name, _, digest = encoder.partition(f" {SHA256}")
    return f"{name}, which comes with mooring[encoder], SHA-256 {digest}"
