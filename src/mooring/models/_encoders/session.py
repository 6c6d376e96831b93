"""Running an ONNX graph on resized and normalised images: the same images give the same bytes, however many processes
or threads there are."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from mooring.errors import ModelError, needed, one_line
from mooring.models._encoders.layers import EncoderLayers, layer_outputs
from mooring.processes import check_stop
from mooring.schema import Doc

EncoderViews = Literal["one", "mirrored"]
VIEWS_OF_IMAGE: dict[EncoderViews, Callable[[Tensor], list[Tensor]]] = {  # of one image, whose features are averaged
    "one": lambda images: [images],
    "mirrored": lambda images: [images, images.flip(3)],
}
FeatureViews = Annotated[
    EncoderViews,
    Doc("`mirrored`: mean over the image and its mirror image"),
]
UsualFeatureViews = Annotated[
    EncoderViews | None,
    Doc("`mirrored`: mean with the mirror image; `null`: if it keeps its class"),
]
Normalisation = Literal["imagenet", "centred", "none"]
NORMALISATIONS: dict[Normalisation, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "centred": ((127 / 255,), (128 / 255,)),
    "none": ((0.0,), (1.0,)),
}
SMALL, ENLARGED = 40, 96  # images up to 40 pixels a side are enlarged to 96, all others brought to the encoder's size
AT_ONCE = 32  # images of 96 x 96 pixels in one call; larger ones are fewer, so that memory stays
CPU_PROVIDER, CUDA_PROVIDER = "CPUExecutionProvider", "CUDAExecutionProvider"
ONNX_LOG_FATAL = 4  # the only thing that onnxruntime may print


def usual_pixels(shape: tuple[int, int, int], native: int, enlarged: int = ENLARGED) -> int:
    """The side in pixels to which images are resized by default."""
    return enlarged if max(shape[1:]) <= SMALL else native


@dataclass(frozen=True)
class Preparation:
    """x -> (resized(x) - mean) / std, with `channels` colours; resizing is bilinear, and smooths where it shrinks."""

    pixels: int
    normalise: Normalisation
    channels: int = 3

    def __call__(self, images: Tensor) -> Tensor:
        """(B, C, H, W), uint8 or [0, 1] -> (B, channels, pixels, pixels)"""
        if images.dtype == torch.uint8:
            images = images.float() / 255
        if images.shape[1] != self.channels:
            images = images.mean(1, keepdim=True).expand(-1, self.channels, -1, -1)  # grey
        if images.shape[2:] != (self.pixels, self.pixels):
            images = F.interpolate(images, (self.pixels, self.pixels), mode="bilinear", antialias=True)
        mean, std = (torch.tensor(values)[:, None, None] for values in NORMALISATIONS[self.normalise])
        return (images - mean) / std


@dataclass(frozen=True)
class SessionPlan:
    """The graph, how images are prepared for it, and which outputs are used."""

    graph: bytes
    prepare: Preparation
    layers: EncoderLayers
    views: EncoderViews = "one"


class OnnxFeatures(nn.Module):
    """phi(x): the outputs of the encoder for prepared images, pooled and concatenated, (B, d).

    `file` gives the bytes when they are first needed, and `plan` says what they are. Every call of onnxruntime has one
    thread and a fixed number of images; several threads of torch are several such calls at a time, so that their
    number changes no byte. Images on a GPU are encoded there if onnxruntime-gpu is installed, and on the CPU otherwise.
    """

    def __init__(self, file: Callable[[], bytes], plan: Callable[[bytes], SessionPlan], where: str) -> None:
        super().__init__()
        self.file = file
        self.plan = plan
        self.where = where

    def forward(self, images: Tensor) -> Tensor:
        plan = self.plan(self.file())
        session = session_of(plan.graph, self.where, images.device.type)
        parts = images.cpu().split(at_once(plan.prepare.pixels))

        def features(part: Tensor) -> Tensor:
            check_stop()
            views = VIEWS_OF_IMAGE[plan.views](plan.prepare(part))
            return torch.stack([self._pooled(session, plan, view) for view in views]).mean(0)

        if torch.get_num_threads() == 1 or len(parts) == 1:
            found = torch.cat([features(part) for part in parts])
        else:
            with ThreadPoolExecutor(torch.get_num_threads()) as pool:
                found = torch.cat(list(pool.map(features, parts)))
        if not torch.isfinite(found).all():
            raise ModelError(f"{self.where}: returns values that are not finite", "use another encoder")
        return found.to(images.device)

    def _pooled(self, session: Any, plan: SessionPlan, images: Tensor) -> Tensor:
        """(B, channels, pixels, pixels) -> (B, d)"""
        maps = run_graph(session, images.numpy(), layer_outputs(plan.layers), self.where)
        return torch.cat([layer(maps[layer.name]) for layer in plan.layers], 1)


class StoredFile(nn.Module):
    """A file as a tensor, which a saved predictor contains."""

    content: Tensor  # (bytes,), uint8

    def __init__(self, content: Tensor) -> None:
        super().__init__()
        self.register_buffer("content", content)

    def forward(self) -> bytes:
        return self.content.cpu().numpy().tobytes()


def at_once(pixels: int) -> int:
    return max(1, AT_ONCE * 96**2 // pixels**2)


@lru_cache(maxsize=2)
def session_of(graph: bytes, where: str, device: str = "cpu") -> Any:
    """A session with one thread; clients of a process follow each other and share it."""
    runtime = needed("onnxruntime", "encoder")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ONNX_LOG_FATAL
    try:
        return runtime.InferenceSession(
            graph, options, providers=providers_for(device, runtime.get_available_providers())
        )
    except Exception as error:  # a broken graph makes it raise almost anything
        raise ModelError(
            f"{where}: onnxruntime cannot run it ({first_line(error)})", "export the encoder again"
        ) from None


def providers_for(device: str, available: Sequence[str]) -> list[str]:
    """Where onnxruntime computes: on CUDA if the images lie there and this onnxruntime can, else on the CPU."""
    return [CUDA_PROVIDER, CPU_PROVIDER] if device == "cuda" and CUDA_PROVIDER in available else [CPU_PROVIDER]


def run_graph(session: Any, images: NDArray[np.float32], names: Sequence[str], where: str) -> dict[str, Tensor]:
    """The outputs of these names for a few images."""
    (given,) = session.get_inputs()
    try:
        found = session.run(list(names), {given.name: np.ascontiguousarray(images)})
    except Exception as error:
        side = images.shape[-1]
        problem = f"{where}: fails on images of {side} x {side} pixels ({first_line(error)})"
        raise ModelError(problem, f"set {where}.pixels to what it takes") from None
    return {name: torch.from_numpy(values) for name, values in zip(names, found, strict=True)}


def first_line(error: Exception) -> str:
    """The first line of a message, not too much of it."""
    text = one_line(str(error).splitlines()[0] if str(error) else type(error).__name__)
    return text if len(text) <= 120 else text[:117] + "..."
