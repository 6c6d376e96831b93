"""Small ONNX files for tests: an encoder of one convolution, and files that are none."""

import numpy as np
import pytest

WHY = "frozen encoders: the extra encoder is not installed"
onnx = pytest.importorskip("onnx", reason=WHY)
pytest.importorskip("onnxruntime", reason=WHY)
REAL = onnx.TensorProto.FLOAT


def small_encoder(path, bias=0.0, channels=4, seed=0):
    """`maps` (N, channels, H, W) and their averages `means` (N, channels)."""
    weight = np.random.default_rng(seed).normal(size=(channels, 3, 3, 3)).astype(np.float32)
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        onnx.helper.make_node("Relu", ["c"], ["maps"]),
        onnx.helper.make_node("GlobalAveragePool", ["maps"], ["m"]),
        onnx.helper.make_node("Flatten", ["m"], ["means"]),
    ]
    weights = {"w": weight, "b": np.full(channels, bias, np.float32)}
    return written(path, nodes, weights, outputs={"maps": ["N", channels, "H", "W"], "means": ["N", channels]})


def written(path, nodes, weights=None, inputs=None, outputs=None, domains=("",)):
    """A file with these nodes; one input of images unless it is said."""
    value = onnx.helper.make_tensor_value_info
    inputs = {"x": ["N", 3, "H", "W"]} if inputs is None else inputs
    outputs = {"means": ["N", 4]} if outputs is None else outputs
    graph = onnx.helper.make_graph(
        nodes,
        "encoder",
        [value(name, REAL, shape) for name, shape in inputs.items()],
        [value(name, REAL, shape) for name, shape in outputs.items()],
        [onnx.numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    opsets = [onnx.helper.make_opsetid(domain, 17 if not domain else 1) for domain in domains]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def averages(inner="x"):
    """Nodes from `inner` to `means`, (N, channels)."""
    pooled = onnx.helper.make_node("GlobalAveragePool", [inner], ["p"])
    return [pooled, onnx.helper.make_node("Flatten", ["p"], ["means"])]
