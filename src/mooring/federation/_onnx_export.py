"""A model as one ONNX file, preprocessing included: what is deployed where there is no Python.

Networks and heads are traced by torch; a frozen encoder is an ONNX graph already, and is put between what is done to
images before it and what is made of its maps. What comes out is compared with the model before it is written.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.errors import ModelError, MooringError, needed, one_line
from mooring.federation._model_file import ModelFile
from mooring.federation._traceable import FromMaps, Prepare, WithShares, exportable
from mooring.fusion import Predictor
from mooring.models import ONNX_LOG_FATAL, OPSET, OnnxFeatures, SessionPlan, layer_outputs, run_graph, session_of
from mooring.record import write_atomically
from mooring.schema import strict_json
from mooring.version import VERSION

EXTRA = "encoder"
IMAGES, PREPARED, SCORES = "images", "prepared", "scores"
SHARES = {"probability": "probabilities", "score": "softmax"}  # what the second output is called
TOLERANCE = 1e-4  # of a score, absolute and relative
TRIED = 3  # images
OPSETS = range(13, 21)  # that torch writes


@dataclass(frozen=True)
class ExportedFile:
    path: Path
    bytes: int
    difference: float  # the largest between its scores and the model's, on a few images of noise
    encoder: str | None = None  # that the model only names, and that is inside here

    @property
    def words(self) -> str:
        text = f"{self.path}: scores as the model's, largest difference {self.difference:.1e} on {TRIED} images"
        inside = "its encoder, which is somebody else's, is inside: pass it on as its licence allows"
        return text if self.encoder is None else f"{text}\n{inside}"


def export_onnx(model: ModelFile, path: Path) -> ExportedFile:
    """Input `images`, uint8 (N, C, H, W); outputs `scores` and their soft-max, (N, classes)."""
    for package in ("onnx", "onnxruntime"):
        needed(package, EXTRA)
    try:
        data = onnx_bytes(model)
        difference = parity(model, data)
    except MooringError:
        raise
    except Exception as error:  # the exporter and onnxruntime raise almost anything over what they do not know
        reason = one_line(str(error).splitlines()[0])[:160] if str(error) else type(error).__name__
        raise export_error(model.predictor, reason) from None
    write_atomically(path, data)
    return ExportedFile(path, len(data), difference, model.provenance.encoder)


def onnx_bytes(model: ModelFile) -> bytes:
    """The file, described."""
    onnx = needed("onnx", EXTRA)
    predictor = exportable(model.predictor)
    encoder = next((part for part in predictor.modules() if isinstance(part, OnnxFeatures)), None)
    graph = trace_whole_model(predictor, model) if encoder is None else around(predictor, encoder, model)
    properties = {
        "classes": strict_json(model.classes),
        "confidence": model.confidence,
        "model head": model.sha256,  # of a .mooring file: it names the rest by its hash
        "images": strict_json({"shape": model.blueprint.shape, "fit": model.provenance.reading.fit}),
        "producer": f"mooring {VERSION}",
    }
    onnx.helper.set_model_props(graph, properties)
    graph.producer_name, graph.producer_version = "mooring", VERSION
    data: bytes = graph.SerializeToString(deterministic=True)
    return data


def trace_whole_model(predictor: Predictor, model: ModelFile) -> Any:
    """All of it, traced."""
    return traced(WithShares(predictor), sample(model), [IMAGES], [SCORES, SHARES[model.confidence]], OPSET)


def around(predictor: Predictor, encoder: OnnxFeatures, model: ModelFile) -> Any:
    """Preparation, then the encoder's own graph, then the rest of the predictor."""
    onnx = needed("onnx", EXTRA)
    plan = encoder.plan(encoder.file())
    graph = onnx.load_model_from_string(plan.graph)
    opset = next(own.version for own in graph.opset_import if own.domain in ("", "ai.onnx"))
    if opset not in OPSETS:
        raise ValueError(f"its encoder is of ONNX operators {opset}; {OPSETS[0]} to {OPSETS[-1]} can be joined")
    prepare = Prepare(plan.prepare, plan.views, model.blueprint.shape)
    (images,) = sample(model)
    with torch.no_grad():
        maps = encoder_maps(plan, prepare(images), encoder.where)
    names = layer_outputs(plan.layers)
    before = traced(prepare, (images,), [IMAGES], [PREPARED], opset)
    after = traced(
        FromMaps(predictor, encoder, plan), tuple(maps.values()), list(names), [SCORES, SHARES[model.confidence]], opset
    )
    given = next(own.name for own in graph.graph.input if own.name not in {w.name for w in graph.graph.initializer})
    merge = onnx.compose.merge_models
    prefixed = onnx.compose.add_prefix
    before, graph, after = prefixed(before, "before/"), prefixed(graph, "encoder/"), prefixed(after, "after/")
    before.ir_version = graph.ir_version = after.ir_version = max(part.ir_version for part in (before, graph, after))
    for part in (before, after):
        del part.opset_import[:]
        part.opset_import.extend(graph.opset_import)
    joined = merge(before, graph, io_map=[(f"before/{PREPARED}", f"encoder/{given}")])
    through = [(f"encoder/{name}", f"after/{name}") for name in names]
    joined = merge(joined, after, io_map=through, outputs=[output.name for output in after.graph.output])
    return plainly_named(joined, {f"before/{IMAGES}": IMAGES, f"after/{SCORES}": SCORES}, SHARES[model.confidence])


def plainly_named(graph: Any, names: dict[str, str], shares: str) -> Any:
    """Inputs and outputs without the prefixes that kept the three graphs apart."""
    all_names = {**names, f"after/{shares}": shares}
    for node in graph.graph.node:
        for side in (node.input, node.output):
            for i, name in enumerate(side):
                side[i] = all_names.get(name, name)
    for value in (*graph.graph.input, *graph.graph.output):
        value.name = all_names.get(value.name, value.name)
    return graph


def encoder_maps(plan: SessionPlan, prepared: Tensor, where: str) -> dict[str, Tensor]:
    return run_graph(session_of(plan.graph, where), prepared.numpy(), layer_outputs(plan.layers), where)


def traced(module: nn.Module, given: tuple[Tensor, ...], inputs: list[str], outputs: list[str], opset: int) -> Any:
    """A module as ONNX, for any number of images."""
    onnx = needed("onnx", EXTRA)
    file, axes = BytesIO(), {name: {0: "N"} for name in (*inputs, *outputs)}
    with warnings.catch_warnings(), torch.no_grad(), muted():
        warnings.simplefilter("ignore")  # the exporter that needs no further library calls itself the old one
        torch.onnx.export(
            module.eval(),
            given,
            file,  # type: ignore[arg-type]  # which this exporter takes too
            dynamo=False,
            input_names=inputs,
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=opset,
        )
    return onnx.load_model_from_string(file.getvalue())


@contextmanager
def muted() -> Iterator[None]:
    """The exporter prints a whole graph, past Python, when it meets an operator that it does not know."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def parity(model: ModelFile, data: bytes) -> float:
    """The largest difference between the scores of file and model; raises an error above the tolerance."""
    (images,) = sample(model, TRIED)
    with torch.inference_mode():
        wanted = model.predictor(images)
    apart = (onnx_scores(data, images) - wanted).abs()
    if not bool((apart <= TOLERANCE * (1 + wanted.abs())).all()):
        raise export_error(model.predictor, f"its scores differ by {float(apart.max()):.1e}")
    return float(apart.max())


def onnx_scores(data: bytes, images: Tensor) -> Tensor:
    """What onnxruntime makes of the images."""
    runtime = needed("onnxruntime", EXTRA)
    options = runtime.SessionOptions()
    options.log_severity_level = ONNX_LOG_FATAL
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    (scores,) = session.run([SCORES], {IMAGES: images.numpy()})
    return torch.from_numpy(scores)


def export_error(predictor: Predictor, reason: str) -> ModelError:
    return ModelError(
        f"a predictor of the kind {predictor.kind!r} cannot be written as ONNX ({reason})",
        "use it with mooring predict, or from Python",
    )


def sample(model: ModelFile, count: int = 2) -> tuple[Tensor]:
    """Images of noise, smooth enough for an encoder."""
    channels, height, width = model.blueprint.shape
    coarse = torch.rand(count, channels, 4, 4, generator=torch.Generator().manual_seed(0))
    return ((255 * F.interpolate(coarse, (height, width), mode="bilinear")).to(torch.uint8),)
