"""Whether a model carries its encoder: named by its SHA-256 unless somebody asks for it to be inside.

Who may pass an encoder on is a matter of its licence, which no program can read: so a model names what somebody else
has made, one of the house (its wheel has it) or a file of the user's, and whoever knows that it may be passed on asks
for it to be included. A `public-encoder` is always inside: the coordinator has trained it for this very federation, on
images that everybody may see, so that nobody else has it and no licence but the coordinator's own lies on it. The same
holds for networks that sites have trained: they are the model.
"""

from copy import deepcopy
from hashlib import sha256
from typing import Literal

import torch

from mooring.errors import ModelError
from mooring.federation.encoder_named import encoder_name
from mooring.fusion.frozen_features import FrozenFeatures
from mooring.fusion.predictor import Predictor
from mooring.models.encoders.efficientnet import lite_graph
from mooring.models.encoders.layers import outputs, parse_layers
from mooring.models.encoders.session import StoredFile
from mooring.models.feature_maps import OWN_FILES, EncoderFeatures, FeatureMap, OnnxFile, PublicEncoder, settled_map
from mooring.models.feature_maps.content import SHA256
from mooring.models.network import Blueprint

EncoderKept = Literal["named", "included"]


def kept_as(kept: EncoderKept, predictor: Predictor) -> tuple[Predictor, str | None]:
    """The predictor to be saved, and the encoder that is not in it."""
    return (embed_encoders(predictor), None) if kept == "included" else (predictor, encoder_needed(predictor))


def encoder_needed(predictor: Predictor) -> str | None:
    """The encoder that is somebody else's, by its SHA-256: whoever uses the model must have it, unless it is inside."""
    maps = [map_of(part) for part in frozen_in(predictor)]
    return next((encoder_name(own) for own in maps if isinstance(own, (EncoderFeatures, *OWN_FILES))), None)


def tensors_of_files(predictor: Predictor) -> frozenset[str]:
    """Those that an encoder in a user's file has, to be left out where it is named."""
    starts = tuple(
        f"{name}.phi." if name else "phi."
        for name, part in predictor.named_modules()
        if isinstance(part, FrozenFeatures) and isinstance(map_of(part), OWN_FILES)
    )
    return frozenset(name for name in predictor.state_dict() if name.startswith(starts)) if starts else frozenset()


def embed_encoders(predictor: Predictor) -> Predictor:
    """A copy in which every encoder of the house is an ONNX file inside; the scores are the same to the bit.

    An encoder in a user's file, or trained on public images, is part of the predictor already.
    """
    copy = deepcopy(predictor)
    frozen = frozen_in(copy)
    if not any(isinstance(map_of(part), (EncoderFeatures, PublicEncoder, *OWN_FILES)) for part in frozen):
        raise ModelError("the model has no encoder to include", "leave --include-encoder out")
    for part in frozen:
        own = map_of(part)
        if isinstance(own, EncoderFeatures):
            part.map, part.phi = inside(own, part.blueprint)
    return copy


def frozen_in(predictor: Predictor) -> list[FrozenFeatures]:
    return [part for part in predictor.modules() if isinstance(part, FrozenFeatures)]


def map_of(part: FrozenFeatures) -> FeatureMap:
    return settled_map(part.map, part.blueprint.shape)


def inside(encoder: EncoderFeatures, blueprint: Blueprint) -> tuple[OnnxFile, torch.nn.Module]:
    """The same map from a file, and what it does."""
    graph = lite_graph(encoder.weights, outputs(parse_layers(encoder.layers, "encoder")))
    name = f"{SHA256}{sha256(graph).hexdigest()}:{len(graph)}"
    map_ = OnnxFile(name, encoder.side(blueprint.shape), encoder.layers, "centred", encoder.views)
    phi = map_.empty(blueprint)
    for module in phi.modules():
        if isinstance(module, StoredFile):
            module.content.copy_(torch.frombuffer(bytearray(graph), dtype=torch.uint8))
    return map_, phi
