"""Prepare a run: the images of every client, the client job, and the images and the encoder of the server."""

from dataclasses import replace
from pathlib import Path

from safetensors.torch import save

from mooring.client import ClientJob, Device, train_encoder
from mooring.config import Experiment, job_of
from mooring.data import Federation, federate
from mooring.engines import device_of_server
from mooring.errors import DataError, FusionError
from mooring.fusion import Fusion, LinearHeadFusion, Server
from mooring.models import PublicEncoder
from mooring.record import write_atomically

USUAL_PUBLIC_RATIO = 0.1  # note 1


def partitioned_data(experiment: Experiment) -> Federation:
    """The images of every client, for any method."""
    federation = federate(experiment.data, experiment.partition, experiment.split_seed, public_ratio(experiment))
    return federation.pooled() if experiment.method.shards == "pooled" else federation


def public_ratio(experiment: Experiment) -> float:
    """The share of the images that is public."""
    source, method = experiment.data, experiment.method
    asks = method.fusion.asks if method.fusion else frozenset()
    wanted = method.bank is not None or "public" in asks
    usual = USUAL_PUBLIC_RATIO if wanted and source.public is None else 0.0
    return usual if source.public_ratio is None else source.public_ratio


def prepare(experiment: Experiment) -> tuple[Federation, ClientJob]:
    """The images of every client, and the client job; a feature bank is built when the run begins."""
    method, federation = experiment.method, partitioned_data(experiment)
    if method.bank is not None and federation.public is None:
        raise DataError(
            f"data.public_ratio={public_ratio(experiment)}: the feature bank of {experiment.name} has no public images",
            f"set data.public_ratio={USUAL_PUBLIC_RATIO} or data.public.source=...",
        )
    if method.fusion:
        require_server_images(method.fusion, federation)
    return federation, job_of(experiment, federation.train.shape, federation.train.classes)


def require_server_images(fusion: Fusion, federation: Federation) -> None:
    """Raise an error if the server lacks images that the rule needs."""
    remedies = {
        "public": f"set data.public_ratio={USUAL_PUBLIC_RATIO} or data.public.source=...",
        "validation": "set data.validation=0.1",
    }
    held = {"public": federation.public, "validation": federation.validation}
    for images in sorted(fusion.asks):
        if held[images] is None:
            raise FusionError(f"fusion={fusion.kind}: needs {images} images and this run has none", remedies[images])


def server_of(experiment: Experiment, federation: Federation, job: ClientJob) -> Server:
    device = device_of_server(experiment.engine).name
    return Server(job.blueprint, experiment.seed, federation.public, federation.validation, device=device)


def untrained_encoder(fusion: Fusion | None) -> PublicEncoder | None:
    """The encoder of a rule that the server trains on public images and sends, if it has no weights yet."""
    features = fusion.map if isinstance(fusion, LinearHeadFusion) else None
    return features if isinstance(features, PublicEncoder) and features.path is None else None


def train_once(features: PublicEncoder, server: Server, job: ClientJob, file: Path) -> None:
    """Train the encoder and keep it in the run folder, unless an interrupted run has done so."""
    if not file.exists() and server.public is not None:
        state = train_encoder(features, server.public, job, server.emit, Device(server.device))
        write_atomically(file, save(state), file.parent)


def point_to_encoder(fusion: Fusion, file: Path) -> Fusion:
    """The rule with the trained encoder in this file, if it needs one and the file exists."""
    features = untrained_encoder(fusion)
    if features is None or not file.exists():
        return fusion
    assert isinstance(fusion, LinearHeadFusion)
    return replace(fusion, map=replace(features, path=str(file.absolute())))
