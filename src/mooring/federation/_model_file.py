"""`model.mooring`: a predictor that people can use, and all that should be known of it.

A `.mooring` file: its manifest is the provenance below, its payload the predictor as safetensors with class names and
preprocessing. Nothing else is needed to predict but an encoder that is somebody else's, and named by its SHA-256: one
of the house, which a wheel holds, or a file of the user's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, isclose
from pathlib import Path
from typing import Literal

from nacl.signing import SigningKey
from torch import Tensor

from mooring.config import HOUSE_CODE, Trust
from mooring.data import PixelReading
from mooring.errors import FederationError
from mooring.federation import _container as container
from mooring.federation._calibration import Calibration, calibration_beside
from mooring.federation._container import Container, FileLimits
from mooring.federation._encoder import encoder_needed, encoder_of_run, tensors_of_files
from mooring.federation._manifests import are_versions, is_hex, manifest_as, without_control
from mooring.federation._own_code import own_classes
from mooring.fusion import NO_TENSORS, TYPICAL, Confidence, Predictor, Typical, decode_predictor, predictor_in_pieces
from mooring.models import Blueprint, is_reference
from mooring.schema import record_tree
from mooring.uploads import Limits, Pieces
from mooring.wording import plural

MODEL = "model"
USUAL = FileLimits()
LONGEST = 2000  # letters of a method with all its changes, or of a sentence
CALIBRATE = "set one with mooring calibrate, on images no site trained on"
MAKE_MODEL_AGAIN = "make the model again with mooring fuse-files, mooring fuse or mooring run"


@dataclass(frozen=True)
class SiteShare:
    """What a site has to do with a model: how much of it is in there, or why nothing is."""

    name: str
    used: bool = True
    samples: int | None = None  # images behind its upload; None: withheld
    weight: float | None = None  # its share of all images that are in the model
    upload_sha256: str | None = None
    reason: str = ""  # why it was set aside, or delivered nothing
    is_site: bool = True  # of the job; or a file that is of none of its sites


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from. No date and no machine: the same uploads make the same bytes."""

    origin: Literal["simulation", "federation", ""] = ""
    method: str = ""
    fusion: str = ""  # the kind of the rule
    track: Literal["", "trained from scratch", "public", "frozen encoder", "statistics only"] = (
        ""  # what its results may be compared with
    )
    job_sha256: str | None = None
    fingerprint: str | None = None
    seed: int | None = None
    sites: tuple[SiteShare, ...] = ()
    images_per_class: tuple[int, ...] = ()  # that it was trained on, where the uploads tell
    protections: tuple[str, ...] = ()  # of the sites' images, beyond that they stay there; in words
    reading: PixelReading = PixelReading()
    versions: Mapping[str, str] = field(default_factory=dict)
    encoder: str | None = None  # that is not inside, by its SHA-256: whoever uses the model must have it

    @property
    def used(self) -> tuple[SiteShare, ...]:
        return tuple(site for site in self.sites if site.used)

    @property
    def asked(self) -> tuple[SiteShare, ...]:
        """Every site once, whatever it sent; files of nobody are none."""
        return tuple({site.name: site for site in self.sites if site.is_site}.values())

    @property
    def set_aside(self) -> tuple[SiteShare, ...]:
        return tuple(site for site in self.sites if not site.used)


@dataclass(frozen=True)
class ModelFile:
    """A predictor, where it comes from, and what else its writer wants to find again."""

    predictor: Predictor
    provenance: Provenance
    beside: Mapping[str, Tensor] = field(default_factory=dict, repr=False)  # sums by site, say: exact late join
    sha256: str = ""  # of the head of its file, which names the rest by its own
    signer: str | None = None  # public key of whoever signed it, if somebody did
    calibration: Calibration | None = None  # of the file beside it, if there is one

    @property
    def blueprint(self) -> Blueprint:
        return self.predictor.blueprint

    @property
    def classes(self) -> tuple[str, ...]:
        return self.blueprint.classes

    @property
    def typical(self) -> Typical | None:
        """What it holds of the training images; files of older versions hold nothing."""
        return self.predictor.typical

    @property
    def confidence(self) -> Confidence:
        return self.predictor.confidence if self.calibration is None else "probability"

    @property
    def limits(self) -> tuple[str, ...]:
        """What its predictions are limited by, for which data, and what is missing, in words."""
        return (*(() if self.calibration is None else (self.calibration.words,)), *self.missing)

    @property
    def missing(self) -> tuple[str, ...]:
        """What it cannot say of an image, and why."""
        own = self.calibration
        if self.typical is None:
            return ("this model holds no statistics to recognise unusual images by",)
        if own is None:
            return (f"no image is marked as unusual without a threshold; {CALIBRATE}",)
        needed = ceil(1 / own.targets.false_alarm) - 1
        few = f"no image is marked as unusual: {plural(own.images, 'image')} calibrated, {needed} needed"
        return (few,) if own.unusual is None else ()


def model_in_pieces(
    predictor: Predictor,
    provenance: Provenance,
    beside: Mapping[str, Tensor] = NO_TENSORS,
    key: SigningKey | None = None,
) -> Pieces:
    """The same bytes for the same content and key, made while they are written; signed if there is a key.

    A thousand networks do not fit into memory twice.
    """
    left_out = tensors_of_files(predictor) if provenance.encoder is not None else ()
    typical = {} if predictor.typical is None else predictor.typical.tensors()
    payload = predictor_in_pieces(predictor, {**beside, **typical}, left_out)
    return container.encode_in_pieces(MODEL, record_tree(provenance), payload, key)


def save_model(
    path: Path | str,
    predictor: Predictor,
    provenance: Provenance,
    beside: Mapping[str, Tensor] = NO_TENSORS,
    key: SigningKey | None = None,
) -> None:
    """One file, all of it or nothing."""
    container.write_container(Path(path), model_in_pieces(predictor, provenance, beside, key))


def load_model(
    path: Path | str,
    trusted: Iterable[type] = (),
    limits: FileLimits = USUAL,
    encoder: str | None = None,
    trust: Trust = HOUSE_CODE,
    calibrated: bool = True,
) -> ModelFile:
    """The model in a file, if it is one; of your own classes those that you hand over as `trusted`.

    `trust`: whose code may be imported because the file names it; `ALL_CODE` for a model of one's own.
    `encoder` is where the encoder lies that the model names by its SHA-256, if it does; the model of a simulated run
    finds it by itself while it lies where the run found it. The calibration beside the model comes with it, unless
    `calibrated` is false.

    >>> from mooring import load_model
    >>> load_model("runs/v12/model.mooring").classes[:3]
    ('0', '1', '2')
    """
    file = container.read_container(Path(path), MODEL, limits)
    needed = manifest_as(Provenance, file.manifest, str(path), MAKE_MODEL_AGAIN).encoder
    if encoder is None and needed is not None and is_reference(needed):
        encoder = encoder_of_run(Path(path), needed)
    model = model_in(file, str(path), own_classes(file, str(path), trusted, trust), limits, encoder)
    if not calibrated:
        return model
    return replace(model, calibration=calibration_beside(Path(path), file.sha256, model.classes))


def model_in(
    file: Container, what: str, trusted: Iterable[type], limits: FileLimits, encoder: str | None = None
) -> ModelFile:
    provenance = manifest_as(Provenance, file.manifest, what, MAKE_MODEL_AGAIN)
    loaded = decode_predictor(file.payload, trusted, Limits(bytes=limits.bytes), what, encoder)
    loaded.predictor.typical = Typical.restored(loaded.beside, loaded.predictor.blueprint.class_count)
    if not believable(provenance, loaded.predictor.blueprint.class_count) or not names(provenance, loaded.predictor):
        raise FederationError(f"{what}: has a provenance that no model can have", MAKE_MODEL_AGAIN)
    beside = {name: tensor for name, tensor in loaded.beside.items() if not name.startswith(TYPICAL)}
    return ModelFile(loaded.predictor, provenance, beside, file.sha256, file.signer)


def names(provenance: Provenance, predictor: Predictor) -> bool:
    """The encoder that it says whoever uses it must have is the one that it looks through."""
    return provenance.encoder in (None, encoder_needed(predictor))


def believable(provenance: Provenance, classes: int) -> bool:
    """Hashes that are hashes, shares that are those of the images, counts of these classes, every site in it once."""
    hashes = [provenance.job_sha256, provenance.fingerprint, *(site.upload_sha256 for site in provenance.sites)]
    numbers = [*provenance.images_per_class, *(site.samples for site in provenance.sites if site.samples is not None)]
    words = [provenance.method, provenance.fusion, *provenance.protections, *(site.name for site in provenance.sites)]
    return (
        all(value is None or is_hex(value, 64) for value in hashes)
        and all(number >= 0 for number in numbers)
        and all(without_control(word) and len(word) <= LONGEST for word in words)
        and are_versions(provenance.versions)
        and len(provenance.images_per_class) in (0, classes)
        and len({site.name for site in provenance.used}) == len(provenance.used)
        and has_shares(provenance.used)
    )


def has_shares(used: tuple[SiteShare, ...]) -> bool:
    """Every weight is the share of the images behind it, where the number of images is known."""
    total = sum(site.samples or 0 for site in used)
    known = [site for site in used if site.weight is not None]
    if total and all(site.samples is not None for site in used):
        return all(isclose(site.weight or 0.0, (site.samples or 0) / total, abs_tol=1e-9) for site in known)
    return all(site.weight is not None and 0 <= site.weight <= 1 for site in known)
