"""Checks an ONNX file: its input, its outputs, and whether it can be used as an encoder."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from mooring.errors import ModelError, needed
from mooring.models._encoders.layers import EncoderLayers, Layer, check_layers, check_size, layer_outputs
from mooring.models._encoders.session import SessionPlan, run_graph, session_of

STANDARD = ("", "ai.onnx")  # domains of standard operators
WITHIN = frozenset({"Loop", "Scan", "If"})  # operators that can run for ever
FLOAT = 1  # in ONNX
EXTERNAL = 1
AGAIN = "export the encoder with one input (N, 3, H, W) and float outputs (N, d) or (N, C, h, w)"


@dataclass(frozen=True)
class Anatomy:
    """One input of images, and outputs by name."""

    channels: int  # of an image: 1 or 3
    side: int | None  # of an image, where the file fixes it
    outputs: tuple[str, ...]


@lru_cache(maxsize=4)
def anatomy_of(graph: bytes, where: str) -> Anatomy:
    """What the file says of itself, before anything of it is run; anything but a plain encoder is rejected."""
    onnx = needed("onnx", "encoder")
    try:
        model = onnx.load_model_from_string(graph)
    except Exception:  # bytes that are no protobuf make it raise almost anything
        raise ModelError(f"{where}: is not an ONNX file", "export the encoder as ONNX") from None
    if not model.graph.node:
        raise ModelError(f"{where}: holds no ONNX graph", "export the encoder as ONNX")
    reject_foreign(model, where)
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [given for given in model.graph.input if given.name not in weights]
    if len(inputs) != 1 or inputs[0].type.tensor_type.elem_type != FLOAT or len(sides(inputs[0])) != 4:
        shown = ", ".join(f"{given.name} {sides(given)}" for given in inputs[:3])
        raise ModelError(f"{where}: takes {shown or 'nothing'}, not one batch of images", AGAIN)
    batch, channels, height, width = sides(inputs[0])
    if channels not in (None, 1, 3) or height != width or batch is not None:
        raise ModelError(f"{where}: takes {sides(inputs[0])}, not any number of square images", AGAIN)
    return Anatomy(channels or 3, height, tuple(output.name for output in model.graph.output))


def reject_foreign(model: Any, where: str) -> None:
    """Reject custom operators, weights in other files, and loops."""
    if model.functions:
        raise ModelError(f"{where}: defines functions of its own", "export it with standard operators only")
    for node in nodes_of(model.graph):
        if node.domain not in STANDARD:
            raise ModelError(
                f"{where}: uses {ascii(node.domain)[:40]} {ascii(node.op_type)[:40]}, which is not a standard operator",
                "export it with standard operators only",
            )
        if node.op_type in WITHIN:
            raise ModelError(f"{where}: uses {node.op_type}", "export it without control flow")
        for attribute in node.attribute:
            reject_external([attribute.t, *attribute.tensors], where)
    sparse = [part for tensor in model.graph.sparse_initializer for part in (tensor.values, tensor.indices)]
    reject_external([*model.graph.initializer, *sparse], where)


def reject_external(tensors: list[Any], where: str) -> None:
    if any(tensor.data_location == EXTERNAL or tensor.external_data for tensor in tensors):
        raise ModelError(f"{where}: keeps weights in other files", "export it as one file")


def nodes_of(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from nodes_of(inner)


def sides(value: Any) -> list[int | None]:
    """Lengths of the dimensions, None where they are free."""
    dimensions = value.type.tensor_type.shape.dim
    return [d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in dimensions]


@lru_cache(maxsize=8)
def feature_count(plan: SessionPlan, where: str) -> int:
    """d, measured by sending one grey image through the graph."""
    check_layers(plan.layers, dict.fromkeys(anatomy_of(plan.graph, where).outputs, 0), where)
    images = plan.prepare(torch.full((1, plan.prepare.channels, 8, 8), 0.5)).numpy()
    found = run_graph(session_of(plan.graph, where), images, layer_outputs(plan.layers), where)
    for name, output in found.items():
        if output.dtype != torch.float32 or output.ndim not in (2, 4) or output.shape[0] != 1:
            shape = f"{str(output.dtype).removeprefix('torch.')} {tuple(output.shape)}"
            raise ModelError(f"{where}: output {name[:40]!a} is {shape} for one image", AGAIN)
        if not torch.isfinite(output).all():
            raise ModelError(f"{where}: output {name[:40]!a} is not finite for a grey image", "use another encoder")
    return check_size(sum(layer(found[layer.name]).shape[1] for layer in plan.layers), where)


def every_output(anatomy: Anatomy) -> EncoderLayers:
    return tuple(Layer(name) for name in anatomy.outputs)
