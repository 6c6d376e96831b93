"""Small encoders for tests: an ONNX file of one convolution, files that are none, and the tensors of a ResNet."""

import numpy as np
import pytest
import torch

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


def resnet_state(bottleneck=False, seed=0):
    """Random weights under torchvision's names: ResNet-18 or -50, an eighth as wide."""
    rng = torch.Generator().manual_seed(seed)
    state, width = {}, 8

    def layer(convolution, norm, out, given, kernel):
        state[f"{convolution}.weight"] = (
            torch.randn(out, given, kernel, kernel, generator=rng) * (kernel**2 * given) ** -0.5
        )
        for key, value in (("weight", 1.0), ("bias", 0.1), ("running_mean", 0.0), ("running_var", 1.0)):
            state[f"{norm}.{key}"] = torch.rand(out, generator=rng) * 0.1 + value
        state[f"{norm}.num_batches_tracked"] = torch.tensor(5)

    layer("conv1", "bn1", width, 3, 7)
    given = width
    for stage, blocks in enumerate((3, 4, 6, 3) if bottleneck else (2, 2, 2, 2), 1):
        inner = width * 2 ** (stage - 1)
        out = inner * 4 if bottleneck else inner
        for i in range(blocks):
            own = f"layer{stage}.{i}"
            kernels = ((1, inner), (3, inner), (1, out)) if bottleneck else ((3, inner), (3, out))
            if i == 0 and (given != out or stage > 1):
                layer(f"{own}.downsample.0", f"{own}.downsample.1", out, given, 1)
            for number, (kernel, to) in enumerate(kernels, 1):
                layer(f"{own}.conv{number}", f"{own}.bn{number}", to, given, kernel)
                given = to
    state["fc.weight"] = torch.zeros(1000, given)
    return state
