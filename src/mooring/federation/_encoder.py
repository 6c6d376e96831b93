"""The encoder of a job or a model: which one it is, where its file lies, and whether a model contains it.

A model names an encoder by its SHA-256 and does not contain it, because the licence of an encoder may forbid passing
it on. Whoever knows that it may be passed on can ask for it to be included. A `public-encoder` is always inside: the
coordinator trained it for this federation, on public images, so nobody else has it. Networks that the sites trained
are the model itself.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import torch

from mooring.config import read_file
from mooring.errors import FederationError, ModelError, MooringError
from mooring.fusion import FrozenFeatures, Fusion, Predictor
from mooring.methods import feature_maps_of
from mooring.models import (
    EFFICIENTNET_LITES,
    FILE_MAPS,
    Blueprint,
    EncoderFeatures,
    EncoderReference,
    FeatureMap,
    OnnxFile,
    PublicEncoder,
    StoredFile,
    is_reference,
    layer_outputs,
    lite_graph,
    map_for_shape,
    parse_layers,
)
from mooring.record import RunFolder
from mooring.schema import Tree, by_file_hash, mappings_in, to_tree
from mooring.uploads import ascii_repr

EncoderKept = Literal["named", "included"]
PATHS = ("path", "root")  # keys that name files
PLAN_AGAIN = "ask the coordinator for a new job file"


def encoder_of_rule(fusion: Fusion | None) -> str | None:
    """The reference of the first encoder that a rule uses; None if nothing was trained before."""
    references = [reference_of(features) for features in (() if fusion is None else feature_maps_of(fusion))]
    return next((reference for reference in references if reference is not None), None)


def reference_of(features: FeatureMap) -> str | None:
    if isinstance(features, EncoderFeatures):
        return str(EncoderReference(EFFICIENTNET_LITES[features.weights].sha256, package=features.weights))
    file = to_tree(features, by_file_hash).get("path")
    return None if file is None else str(file)


def with_encoder_path(tree: Tree, encoder: str | None) -> Tree:
    """The experiment of a job with the path of the encoder's file in the place of its reference.

    A path that a job names is never followed.
    """
    named = sorted(set(paths_in(tree)))
    if not named:
        return tree
    if len(named) > 1 or not is_reference(named[0]):
        raise FederationError(f"it names the file {ascii_repr(named[0])}", PLAN_AGAIN)
    reference = EncoderReference.parse(named[0])
    if encoder is None:
        raise FederationError(f"its encoder is a file, {named[0][:23]}...", "name it: --encoder FILE")
    if not reference.is_content_of(encoder):
        message = f"its SHA-256 must be {reference.digest}"
        raise FederationError(f"--encoder {encoder}: is not the file of this job", message)
    located: Tree = replaced(tree, named[0], str(Path(encoder).absolute()))
    return located


def paths_in(tree: object) -> list[str]:
    """Every file that a tree names, under whatever key."""
    return [str(part[key]) for part in mappings_in(tree) for key in PATHS if part.get(key) is not None]


def replaced(tree: Any, old: str, new: str) -> Any:
    if isinstance(tree, dict):
        return {key: replaced(part, old, new) for key, part in tree.items()}
    if isinstance(tree, list):
        return [replaced(part, old, new) for part in tree]
    return new if tree == old else tree


def encoder_of_run(model: Path, encoder: str) -> str | None:
    """The file with this content that the run in the model's folder used; else one that has changed since.

    None if the model is not in a run folder, or the file is gone.
    """
    try:
        named = paths_in(read_file(RunFolder(model.parent).experiment_file).get("method"))
    except MooringError:
        return None
    there = [path for path in dict.fromkeys(named) if Path(path).is_file()]
    return next((path for path in there if has_content(path, encoder)), next(iter(there), None))


def has_content(path: str, encoder: str) -> bool:
    try:
        return EncoderReference.parse(encoder).is_content_of(path)
    except MooringError:
        return False


def kept_as(kept: EncoderKept, predictor: Predictor) -> tuple[Predictor, str | None]:
    """The predictor to save, and the reference of the encoder that it does not contain."""
    return (embed_encoders(predictor), None) if kept == "included" else (predictor, encoder_needed(predictor))


def encoder_needed(predictor: Predictor) -> str | None:
    """The reference of an encoder that users of the model must have, unless the model contains it."""
    maps = [map_of(part) for part in frozen_in(predictor)]
    return next((reference_of(own) for own in maps if isinstance(own, (EncoderFeatures, *FILE_MAPS))), None)


def tensors_of_files(predictor: Predictor) -> frozenset[str]:
    """Names of the tensors of encoders in users' files; a model that names its encoder leaves them out."""
    starts = tuple(
        f"{name}.phi." if name else "phi."
        for name, part in predictor.named_modules()
        if isinstance(part, FrozenFeatures) and isinstance(map_of(part), FILE_MAPS)
    )
    return frozenset(name for name in predictor.state_dict() if name.startswith(starts)) if starts else frozenset()


def embed_encoders(predictor: Predictor) -> Predictor:
    """A copy in which every packaged encoder is an ONNX file inside; the scores are the same to the bit.

    An encoder in a user's file, or trained on public images, is part of the predictor already.
    """
    copy = deepcopy(predictor)
    frozen = frozen_in(copy)
    if not any(isinstance(map_of(part), (EncoderFeatures, PublicEncoder, *FILE_MAPS)) for part in frozen):
        raise ModelError("the model has no encoder to include", "leave --include-encoder out")
    for part in frozen:
        own = map_of(part)
        if isinstance(own, EncoderFeatures):
            part.map, part.phi = embedded(own, part.blueprint)
    return copy


def frozen_in(predictor: Predictor) -> list[FrozenFeatures]:
    return [part for part in predictor.modules() if isinstance(part, FrozenFeatures)]


def map_of(part: FrozenFeatures) -> FeatureMap:
    return map_for_shape(part.map, part.blueprint.shape)


def embedded(encoder: EncoderFeatures, blueprint: Blueprint) -> tuple[OnnxFile, torch.nn.Module]:
    """The same map from an ONNX file, and its module with the file inside."""
    graph = lite_graph(encoder.weights, layer_outputs(parse_layers(encoder.layers, "encoder")))
    name = str(EncoderReference.of(graph))
    map_ = OnnxFile(name, encoder.side(blueprint.shape), encoder.layers, "centred", encoder.views)
    phi = map_.empty(blueprint)
    for module in phi.modules():
        if isinstance(module, StoredFile):
            module.content.copy_(torch.frombuffer(bytearray(graph), dtype=torch.uint8))
    return map_, phi
