"""The job file: what a coordinator asks of sites, signed, and all that it takes to do it anywhere but the images."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from nacl.signing import SigningKey
from torch import Tensor

from mooring.client import ClientJob
from mooring.config import HOUSE_CODE, Experiment, job_of, parse
from mooring.data import ImageFolder
from mooring.errors import FederationError, MooringError, TrustError
from mooring.federation._container import Container, FileLimits, encode, is_key, read_container
from mooring.federation._encoder import PLAN_AGAIN, encoder_of_rule, with_encoder_path
from mooring.federation._manifests import check_classes, check_sites, is_hex, manifest_as, without_control
from mooring.federation._withheld_counts import Counts, reject_counting
from mooring.fusion import Fusion
from mooring.methods import Method
from mooring.schema import Tree, by_file_hash, record_tree, to_tree
from mooring.uploads import Limits, ascii_repr, expected_of, limits_for

JOB = "job"
LIMITS = FileLimits(bytes=2**24, head_bytes=2**24)
IMAGES = ("size", "channels", "fit", "levels")  # of a source, what every site must do alike
CLASSES = "classes"  # which folders mean which class; written only if some do
TREE = {"data", "model", "training", "method", "seed"}  # of an experiment, what a job says
NONCE = 16  # bytes
FILE_NAME = re.compile(r"(?<=\.path=).*?(?=, [\w.]+=|$)")  # of an encoder, in the label of a method
TRAIN_FIRST = "train its encoder with mooring run, then say encoder.path=RUN/encoder.safetensors"


@dataclass(frozen=True)
class JobSite:
    """Who takes part: a name, and the public key that its upload must be signed with, where it is known."""

    name: str
    key: str | None = None


@dataclass(frozen=True)
class TensorPlan:
    """A tensor that every site will upload."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class SecurePlan:
    """Sites send what can only be added up: how many images all have at most, and how large a feature may be."""

    images: int
    bound: float


@dataclass(frozen=True)
class JobManifest:
    """What a job file says."""

    method: str  # what people call it
    experiment: Mapping[str, object]  # method, model, images, training, seed: the tree that builds them again
    classes: tuple[str, ...]
    sites: tuple[JobSite, ...]
    minimum: int  # images of a class that a site has any of
    most_bytes: int  # of an upload file
    created: str
    expires: str
    work: str  # SHA-256 of the client job that all of this builds
    uploads: tuple[TensorPlan, ...]
    mooring: str  # the version that wrote it
    nonce: str  # two jobs of the same words are two jobs
    secure: SecurePlan | None = None
    counts: Counts = "told"  # how many images a site has
    encoder: str | None = None  # its name, if it has one, and its SHA-256
    most_images: int | None = None  # that a site may have; None: no limit, and the key is not written


@dataclass(frozen=True)
class JobFile:
    """A job file that was read, checked, and built again."""

    manifest: JobManifest
    experiment: Experiment = field(repr=False)
    work: ClientJob = field(repr=False)
    coordinator: str  # public key
    sha256: str  # of the file's head: what uploads answer

    @property
    def classes(self) -> tuple[str, ...]:
        return self.manifest.classes

    @cached_property
    def wire(self) -> dict[str, Tensor]:
        """The tensors of an upload file, shapes and types only."""
        return wire_of(self.work, self.manifest.secure)

    @cached_property
    def limits(self) -> Limits:
        """What the tensors of an upload file can measure at most."""
        return limits_for(self.wire)

    @property
    def site_names(self) -> tuple[str, ...]:
        return tuple(site.name for site in self.manifest.sites)

    @property
    def images(self) -> ImageFolder:
        assert isinstance(self.experiment.data, ImageFolder), "checked when it was read"
        return self.experiment.data

    @property
    def fusion(self) -> Fusion:
        assert self.experiment.method.fusion is not None, "checked when it was read"
        return self.experiment.method.fusion

    @property
    def withholds(self) -> bool:
        """Do sites keep to themselves how many images they have?"""
        return self.manifest.counts == "withheld"

    @property
    def expires(self) -> datetime:
        return parse_time(self.manifest.expires)

    def number_of(self, site: str) -> int:
        """The number of a site, by which its randomness is drawn."""
        if site not in self.site_names:
            raise FederationError(
                f"site {ascii_repr(site)}: is not in this job", f"--site is one of {', '.join(self.site_names)}"
            )
        return self.site_names.index(site)

    def reject_expired(self, now: datetime) -> None:
        if now >= self.expires:
            raise FederationError(f"the job expired on {self.manifest.expires}", PLAN_AGAIN)


def experiment_tree(experiment: Experiment) -> Tree:
    """What builds the experiment again at another place: files by their content, no path of this machine."""
    data = to_tree(experiment.data)
    kept = (*IMAGES, *((CLASSES,) if data[CLASSES] else ()))
    return {
        "data": {"source": ImageFolder.source, **{key: data[key] for key in kept}},
        "model": to_tree(experiment.model),
        "training": to_tree(experiment.training, by_file_hash),
        "method": {"name": experiment.name, **to_tree(experiment.method, by_file_hash)},
        "seed": experiment.seed,
    }


def wire_of(work: ClientJob, secure: SecurePlan | None) -> dict[str, Tensor]:
    """What a site sends: the tensors of its parts, or a masked word for each of their numbers."""
    expected = expected_of(work.needs, work.blueprint)
    return expected if secure is None else {name: tensor.long() for name, tensor in expected.items()}


def plans_of(wire: Mapping[str, Tensor]) -> tuple[TensorPlan, ...]:
    return tuple(TensorPlan(name, type_name(tensor), tuple(tensor.shape)) for name, tensor in wire.items())


def type_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def encode_job(manifest: JobManifest, key: SigningKey) -> bytes:
    tree: dict[str, object] = record_tree(manifest)
    if manifest.most_images is None:
        del tree["most_images"]  # as jobs without a limit always were
    return encode(JOB, tree, key=key)


def read_job(path: Path, encoder: str | None = None) -> JobFile:
    """The job in a file; `encoder` is where the encoder lies that the job names by its SHA-256, if it does."""
    return opened_job(read_container(path, JOB, LIMITS), str(path), encoder)


def opened_job(held: Container, what: str, encoder: str | None = None) -> JobFile:
    """The job that a container holds, built again: the client job must be the very one that was signed."""
    if held.signer is None:
        raise FederationError(f"{what}: is not signed", PLAN_AGAIN)
    manifest = manifest_as(JobManifest, held.manifest, what, PLAN_AGAIN)
    try:
        experiment, work = rebuild_job(manifest, encoder)
    except FederationError as error:
        raise FederationError(f"{what}: {error.problem}", error.remedy) from None
    except TrustError:
        raise FederationError(f"{what}: names code that is not part of mooring", PLAN_AGAIN) from None
    except (MooringError, ValueError, RecursionError, OverflowError) as error:
        problem = str(error).splitlines()[0]
        raise FederationError(f"{what}: cannot be built here ({problem})", PLAN_AGAIN) from None
    return JobFile(manifest, experiment, work, held.signer, held.sha256)


def rebuild_job(manifest: JobManifest, encoder: str | None) -> tuple[Experiment, ClientJob]:
    """Experiment and client job, every field of the manifest held against them."""
    check_sites([site.name for site in manifest.sites])
    check_classes(manifest.classes)
    for site in manifest.sites:
        if site.key is not None and not is_key(site.key):
            raise FederationError(f"site {site.name}: its key {ascii_repr(site.key)} is not a key", PLAN_AGAIN)
    if manifest.minimum < 1 or manifest.most_bytes < 1 or (manifest.most_images or 1) < 1:
        raise FederationError("its limits are below 1", PLAN_AGAIN)
    if not is_hex(manifest.nonce, 2 * NONCE) or not without_control(manifest.method + manifest.mooring):
        raise FederationError("was not written by mooring plan", PLAN_AGAIN)
    begins, ends = parse_time(manifest.created), parse_time(manifest.expires)
    if ends <= begins or (begins.isoformat(), ends.isoformat()) != (manifest.created, manifest.expires):
        raise FederationError("it expires before it begins, or its dates are spelled otherwise", PLAN_AGAIN)
    if manifest.secure is not None and not all(site.key for site in manifest.sites):
        raise FederationError("its sum is secure, and not every site has a key", PLAN_AGAIN)
    tree = with_encoder_path(dict(manifest.experiment), encoder)
    data = tree.get("data")
    if tree.keys() != TREE or not isinstance(data, dict) or data.keys() - {CLASSES} != {"source", *IMAGES}:
        raise FederationError("its experiment is not one of a job", PLAN_AGAIN)
    experiments = parse(tree, HOUSE_CODE)
    shape = experiments[0].data.image_shape()
    if len(experiments) != 1 or shape is None or not isinstance(experiments[0].data, ImageFolder):
        raise FederationError("its experiment is not one of a job", PLAN_AGAIN)
    usable(experiments[0])
    work = job_of(experiments[0], shape, manifest.classes)
    if work.sha256 != manifest.work:
        raise FederationError(
            "builds another client job here than at the coordinator's", "use the version of mooring that planned it"
        )
    if manifest.counts == "withheld":
        reject_counting(work.needs, experiments[0].name)
    otherwise = {
        "names another method than the one it builds": not same_label(manifest.method, experiments[0]),
        "names another encoder than the one it would use here": encoder_of_rule(experiments[0].method.fusion)
        != manifest.encoder,
        "would upload something else than it says": plans_of(wire_of(work, manifest.secure)) != manifest.uploads,
    }
    for reason in (reason for reason, found in otherwise.items() if found):
        raise FederationError(reason, PLAN_AGAIN)
    return experiments[0], work


def same_label(label: str, experiment: Experiment) -> bool:
    """Is this what the experiment is called? A site approves a method by its name; a file may be called otherwise."""
    return FILE_NAME.sub("", label) == FILE_NAME.sub("", experiment.label_elsewhere)


def usable(experiment: Experiment) -> None:
    """Can this method be done by file? Sites have their own images and nobody else's."""
    method = experiment.method
    lacks = {
        "fuses nothing": method.fusion is None,
        "puts everybody's images in one place": method.shards == "pooled",
        "needs public images": method.bank is not None or (method.fusion is not None and bool(method.fusion.asks)),
    }
    for reason in (reason for reason, found in lacks.items() if found):
        remedy = TRAIN_FIRST if track_of_public(method) else "choose another method, such as mooring"
        raise FederationError(f"method {experiment.label}: {reason}", remedy)


def track_of_public(method: Method) -> bool:
    """Does it look through an encoder that somebody has to train on public images first?"""
    return method.bank is None and method.track == "public"


def parse_time(text: str) -> datetime:
    """A date and a time in UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise FederationError(f"{ascii_repr(text)} is not a date", "write 2027-01-31") from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
