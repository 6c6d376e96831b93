"""Writing a small ONNX graph, layer by layer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from mooring.errors import needed

OPSET = 17  # of 2022: every onnxruntime since 1.12 runs it
IR = 8
INPUT = "images"
SAME = "SAME_UPPER"  # what TensorFlow calls SAME: an odd pixel of padding goes to the right and below


class Graph:
    """Convolutions with folded batch norms, and the operators between them; each method returns a node name."""

    def __init__(self) -> None:
        self.onnx: Any = needed("onnx", "encoder")
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def convolution(self, x: str, weight: Tensor, bias: Tensor, stride: int, padding: int | None, groups: int) -> str:
        """`padding` pixels on every side; None pads as TensorFlow's SAME."""
        pads: dict[str, Any] = {"auto_pad": SAME} if padding is None else {"pads": [padding] * 4}
        kernel = list(weight.shape[2:])
        inputs = [x, self._constant(weight), self._constant(bias)]
        return self._node("Conv", inputs, kernel_shape=kernel, strides=[stride] * 2, group=groups, **pads)

    def clipped(self, x: str) -> str:
        """ReLU6"""
        return self._node("Clip", [x, self._scalar(0.0), self._scalar(6.0)])

    def rectified(self, x: str) -> str:
        return self._node("Relu", [x])

    def sum(self, x: str, y: str) -> str:
        return self._node("Add", [x, y])

    def largest(self, x: str, side: int, stride: int, padding: int) -> str:
        """Max-pooling."""
        return self._node("MaxPool", [x], kernel_shape=[side] * 2, strides=[stride] * 2, pads=[padding] * 4)

    def written(self, outputs: Mapping[str, tuple[str, int]]) -> bytes:
        """The file: images (N, 3, H, W) -> the outputs, each a node and its channels, by their own names."""
        helper, real = self.onnx.helper, self.onnx.TensorProto.FLOAT
        given = helper.make_tensor_value_info(INPUT, real, ["N", 3, "H", "W"])
        output_infos = [
            helper.make_tensor_value_info(name, real, ["N", channels, f"{name}.h", f"{name}.w"])
            for name, (_, channels) in outputs.items()
        ]
        nodes = [*self.nodes, *(helper.make_node("Identity", [node], [name]) for name, (node, _) in outputs.items())]
        graph = helper.make_graph(nodes, "encoder", [given], output_infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
        data: bytes = model.SerializeToString(deterministic=True)
        return data

    def _node(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def _constant(self, tensor: Tensor) -> str:
        return self._kept(tensor.numpy())

    def _scalar(self, value: float) -> str:
        return self._kept(np.array(value, np.float32))

    def _kept(self, values: NDArray[np.float32]) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(self.onnx.numpy_helper.from_array(values, name))
        return name


def folded(weight: Tensor, norm: Mapping[str, Tensor], epsilon: float) -> tuple[Tensor, Tensor]:
    """A convolution without bias and the batch norm after it as one: w g / sqrt(v + e), b - m g / sqrt(v + e)."""
    weight, g, b, m, v = (
        t.double() for t in (weight, norm["weight"], norm["bias"], norm["running_mean"], norm["running_var"])
    )
    scale = g / (v + epsilon).sqrt()
    return (weight * scale[:, None, None, None]).float(), (b - m * scale).float()
