"""A predictor as one safetensors file, and back, with the same scores to the bit: no data, no run folder, no pickle.

It is in this room because only here is known what a predictor is made of; the bytes are those of the uploads' codec.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from mooring.errors import ModelError
from mooring.fusion.calibrated import CalibratedPredictor
from mooring.fusion.class_expert import ClassExpertPredictor
from mooring.fusion.count_weighted import CountWeightedPredictor
from mooring.fusion.distillation.logit_ensemble import LogitEnsemble
from mooring.fusion.familiarity import FamiliarityPredictor
from mooring.fusion.feature_ensemble import FeatureEnsemblePredictor
from mooring.fusion.frozen_features import Affine, FrozenFeatures, Reduced
from mooring.fusion.gaussians import DiagonalGaussians, Gaussians, Posterior
from mooring.fusion.iffi import IffiPredictor
from mooring.fusion.merged import Merged
from mooring.fusion.nearest_prototype import NearestPrototypePredictor
from mooring.fusion.output_ensemble import OutputEnsemblePredictor
from mooring.fusion.predictor import Predictor, Saved, Scorer
from mooring.fusion.standardised_sum import StandardisedByBatch, StandardisedSumPredictor
from mooring.models.network import Blueprint
from mooring.models.plans import Families, blueprint_of, blueprint_tree, classes_by_kind
from mooring.trees import Tree
from mooring.uploads import Limits, Piece, Pieces, decode_tensors, encode_in_pieces

PREDICTORS: dict[str, type[Predictor]] = {
    "calibrated": CalibratedPredictor,
    "class-expert": ClassExpertPredictor,
    "count-weighted": CountWeightedPredictor,
    "familiarity": FamiliarityPredictor,
    "feature-ensemble": FeatureEnsemblePredictor,
    "frozen-features": FrozenFeatures,
    "iffi": IffiPredictor,
    "logit-ensemble": LogitEnsemble,
    "nearest-prototype": NearestPrototypePredictor,
    "network": Merged,
    "output-ensemble": OutputEnsemblePredictor,
    "standardised-by-batch": StandardisedByBatch,
    "standardised-sum": StandardisedSumPredictor,
}
SCORERS: dict[str, type[Scorer]] = {
    "affine": Affine,
    "diagonal-gaussians": DiagonalGaussians,
    "gaussians": Gaussians,
    "posterior": Posterior,
    "reduced": Reduced,
}
KEYS = {"format", "predictor", "model", "classes", "preprocessing", "provenance"}
USUAL = Limits()
WHOLE = "predictor"
BESIDE = "beside/"  # before the name of a tensor that is no part of the predictor: no module has a name like it
NOTHING: Mapping[str, Tensor] = {}


@dataclass(frozen=True)
class Manifest:
    """What a file says of its predictor: what it is, what it takes, what it tells, and where it comes from."""

    predictor: Tree
    blueprint: Blueprint  # class names and preprocessing: shape, mean, std
    provenance: Mapping[str, object]  # job, method, sites, versions: whatever is known, as JSON has it

    @property
    def classes(self) -> tuple[str, ...]:
        return self.blueprint.classes

    def facts(self) -> Tree:
        return {"predictor": self.predictor, **blueprint_tree(self.blueprint), "provenance": dict(self.provenance)}


@dataclass(frozen=True)
class LoadedPredictor:
    predictor: Predictor
    manifest: Manifest
    beside: Mapping[str, Tensor] = field(default_factory=dict, repr=False)  # what else its writer put into the file


def save_predictor(predictor: Predictor, path: Path | str, provenance: Mapping[str, object]) -> Manifest:
    """One file, all of it or nothing."""
    path, manifest = Path(path), manifest_of(predictor, provenance)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.writelines(predictor_in_pieces(predictor, provenance))
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ModelError(f"{path}: cannot be written ({error.strerror})", "choose another place") from None
    return manifest


def load_predictor(path: Path | str, trusted: Iterable[type] = (), limits: Limits = USUAL) -> LoadedPredictor:
    """The predictor in a file, if it is one; of your own classes those that you hand over as `trusted`."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > limits.bytes:
            raise ModelError(f"{path}: has {size} bytes and may have {limits.bytes}", "raise the limit")
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})", "name a saved predictor") from None
    return decode_predictor(data, trusted, limits, str(path))


def encode_predictor(
    predictor: Predictor, provenance: Mapping[str, object], beside: Mapping[str, Tensor] = NOTHING
) -> bytes:
    """`beside` are tensors that its writer wants to find again, such as the sums it was made of."""
    return predictor_in_pieces(predictor, provenance, beside).joined()


def predictor_in_pieces(
    predictor: Predictor,
    provenance: Mapping[str, object],
    beside: Mapping[str, Tensor] = NOTHING,
    left_out: Collection[str] = (),
) -> Pieces:
    """The same, for models that are large; what is `left_out` is a file that whoever reads it must have."""
    own = {f"{BESIDE}{name}": tensor for name, tensor in beside.items()}
    state = {name: tensor for name, tensor in predictor.state_dict().items() if name not in left_out}
    return encode_in_pieces(state | own, manifest_of(predictor, provenance).facts())


def decode_predictor(
    data: Piece,
    trusted: Iterable[type] = (),
    limits: Limits = USUAL,
    what: str = "predictor",
    encoder: str | None = None,
) -> LoadedPredictor:
    """Any other sequence of bytes raises a one-line error; `encoder` is where a file lies that it only names."""
    facts, tensors = decode_tensors(data, limits, what)
    classes, beside = tuple(trusted), {name: tensors.pop(name) for name in list(tensors) if name.startswith(BESIDE)}
    try:
        manifest = read_manifest(facts, classes)
        reject_broken(beside)
        predictor = restored(manifest, tensors, classes, encoder)
    except ModelError as error:
        raise ModelError(f"{what}: {error.problem}", error.remedy) from None
    return LoadedPredictor(predictor, manifest, {name.removeprefix(BESIDE): beside[name] for name in beside})


def manifest_of(predictor: Predictor, provenance: Mapping[str, object]) -> Manifest:
    return Manifest(predictor.tree(), predictor.blueprint, dict(provenance))


def read_manifest(facts: Tree, trusted: Sequence[type]) -> Manifest:
    """What the facts in a header say, all of it and nothing else."""
    if facts.keys() != KEYS or not isinstance(facts["predictor"], dict):
        raise ModelError("holds no predictor", "name a file that save_predictor wrote")
    provenance = facts["provenance"]
    if not isinstance(provenance, dict):
        raise ModelError("its provenance is no mapping", "save it again")
    return Manifest(facts["predictor"], blueprint_of(facts, Families.of(trusted)), provenance)


def restored(
    manifest: Manifest, tensors: Mapping[str, Tensor], trusted: Sequence[type], encoder: str | None = None
) -> Predictor:
    """The predictor, if these are all of its tensors, finite, and it can score an image with them."""
    reject_broken(tensors)
    own, blueprint = classes_by_kind(trusted), manifest.blueprint
    families, tree = Families.of(trusted), {WHOLE: manifest.predictor}
    within = {f"{WHOLE}.{name}": tensor for name, tensor in tensors.items()}
    whole = Saved(tree, within, blueprint, families, PREDICTORS | own, SCORERS | own, encoder=encoder)
    try:
        predictor = whole.predictor(WHOLE)
        with torch.inference_mode():
            scores = predictor(torch.zeros(1, *blueprint.shape, dtype=torch.uint8))
    except (RuntimeError, RecursionError, ValueError, IndexError) as error:
        raise ModelError(f"its tensors do not fit together ({str(error).splitlines()[0]})", "save it again") from None
    if unread := sorted(tensors.keys() - predictor.state_dict().keys()):
        raise ModelError(f"tensor {unread[0]!r} belongs to nothing", "save it again")
    if scores.shape != (1, blueprint.class_count):
        raise ModelError(f"it scores {tuple(scores.shape)}, not {(1, blueprint.class_count)}", "save it again")
    return predictor


def reject_broken(tensors: Mapping[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ModelError(f"tensor {name!r} holds values that are not finite", "save it again")
