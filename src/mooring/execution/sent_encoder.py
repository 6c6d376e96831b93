"""The encoder that the server sends: trained once on public images, kept in the run's folder, named by its content."""

from dataclasses import replace
from pathlib import Path

from safetensors.torch import save

from mooring.client import ClientJob
from mooring.client.public_encoder import train_encoder
from mooring.data.images import ImageSet
from mooring.events import Emit
from mooring.fusion import Fusion, LinearHeadFusion
from mooring.models.feature_maps import PublicEncoder
from mooring.record.files import write_atomically


def untrained(fusion: Fusion | None) -> PublicEncoder | None:
    """The encoder of a rule that nobody has trained yet."""
    features = fusion.map if isinstance(fusion, LinearHeadFusion) else None
    return features if isinstance(features, PublicEncoder) and features.path is None else None


def train_once(features: PublicEncoder, public: ImageSet, job: ClientJob, file: Path, emit: Emit) -> None:
    """A run that goes on finds its encoder where it left it."""
    if not file.exists():
        write_atomically(file, save(train_encoder(features, public, job, emit)), file.parent)


def point_to_encoder(fusion: Fusion, file: Path) -> Fusion:
    """The rule with the encoder in this file, if it wants one and there is one."""
    features = untrained(fusion)
    if features is None or not file.exists():
        return fusion
    assert isinstance(fusion, LinearHeadFusion)
    return replace(fusion, map=replace(features, path=str(file.absolute())))
