"""Costs at the clients, on the network, at the server, and per prediction.

Floating-point operations are counted on the model and not guessed.
"""

from collections.abc import Callable

from mooring.methods import feature_maps_of
from mooring.models import Blueprint, FeatureMap, feature_flops, forward_flops
from mooring.reports._report_data import ReportData, ReportedRun, SeedGroup
from mooring.reports._section import Section
from mooring.reports._table import Cell, Table, average
from mooring.uploads import Moments

BACKWARD = 3  # forward and backward together, in forwards
NOTE = (
    "Sums over all clients, means over n seeds; seconds by the clock of the machine. FLOPs are counted on the model, "
    "for one image, times images, views, epochs and rounds; backward is taken as twice forward, losses and "
    "augmentation are left out. A client that trains nothing sends every image once through fixed features and adds "
    "them up: both are counted. Not counted are features that onnxruntime computes, mixtures that are fitted, sums "
    "under noise, and the head over fixed features. Inference passes: how many encoders one prediction goes through."
)
UNCOUNTED = "not counted"


def costs(data: ReportData) -> Section:
    lines = [line for line in data.lines if line.first.experiment is not None]  # a log tells no costs
    if not lines:
        return Section("costs", "Costs", "")
    shared = any(not line.first.trained for line in lines)
    rows = [
        {
            "experiment": group.label,
            **({"client compute": client_compute(data, group)} if shared else {}),
            "client seconds": average(sum(run.seconds.values()) if run.seconds else None for run in group.runs),
            "slowest client (s)": average(max(run.seconds.values(), default=None) for run in group.runs),
            "client FLOPs": flops(group, client_flops),
            "upload bytes": int_if_whole(average(run.result.upload_bytes for run in group.runs)),
            "download bytes": round(average(download_bytes(run) for run in group.runs) or 0),
            "server seconds": average(run.result.last.server_seconds for run in group.runs),
            "inference passes": int_if_whole(average(passes(run) for run in group.runs)),
            "inference FLOPs": flops(group, inference_flops),
            "n": len(group.runs),
        }
        for group in lines
    ]
    lead = "One upload per client; what fusing saves in training it may ask back at every prediction."
    table = Table.from_rows("costs", "Costs", rows, NOTE)
    return Section("costs", "Costs", lead, tables=(table,))


def client_compute(data: ReportData, group: SeedGroup) -> str:
    """Whether the clients trained for this experiment, or for another one that it shares the training with."""
    trainers = {run.name: run.label for run in data.runs if run.sweep == group.first.sweep}
    return "own" if group.first.trained else f"shared with {trainers.get(group.first.shared_with, 'another run')}"


def flops(group: SeedGroup, count: Callable[[ReportedRun], float | None]) -> Cell:
    """The mean count; `not counted` if an empty cell could be read as zero."""
    found, first = average(count(run) for run in group.runs), group.first
    return UNCOUNTED if found is None and fixed_features(first) and first.result.image_shape else found


def download_bytes(run: ReportedRun) -> int:
    """What all clients together receive before they train."""
    return (run.result.download_bytes or 0) * run.result.clients


def passes(run: ReportedRun) -> float | None:
    """Encoders per prediction; a run that fuses nothing has one model per client."""
    count = run.result.last.passes if run.experiment is None or run.experiment.method.fusion else 1.0
    return None if count is None else float(count)


def inference_flops(run: ReportedRun) -> float | None:
    one, times = flops_per_image(run), passes(run)
    return None if one is None or times is None else one * times


def int_if_whole(value: float | None) -> float | int | None:
    """A mean of equal counts is a count."""
    return int(value) if value is not None and value == int(value) else value


def blueprint_of(run: ReportedRun) -> Blueprint | None:
    """What a client's network is built by; unknown without the data's shape."""
    experiment, shape = run.experiment, run.result.image_shape
    if experiment is None or len(shape) != 3 or not run.result.classes:
        return None
    return Blueprint(
        experiment.model,
        experiment.method.client.head,
        (shape[0], shape[1], shape[2]),
        run.result.classes,
        experiment.data.mean,
        experiment.data.std,
    )


def fixed_features(run: ReportedRun) -> list[FeatureMap]:
    """What clients look at and do not train."""
    method = None if run.experiment is None else run.experiment.method
    return [] if method is None or method.client.terms or method.fusion is None else feature_maps_of(method.fusion)


def flops_per_image(run: ReportedRun) -> int | None:
    """One image through one client's network, or through the fixed features that it looks at."""
    blueprint, features = blueprint_of(run), fixed_features(run)
    if blueprint is None or len(features) > 1:
        return None
    return feature_flops(features[0], blueprint) if features else forward_flops(blueprint)


def summing_flops(run: ReportedRun) -> int | None:
    """Of adding an image to the sums that a client sends, where it sends sums and nothing else."""
    blueprint, fusion = blueprint_of(run), run.experiment and run.experiment.method.fusion
    if blueprint is None or not fusion:
        return None
    sums = [part for part in fusion.needs if isinstance(part, Moments)]
    return sum(part.flops(blueprint) for part in sums) if len(sums) == len(fusion.needs) else None


def client_flops(run: ReportedRun) -> float | None:
    """All clients: 3 x forward x images x views x epochs x rounds; who trains nothing adds every image up once."""
    one = flops_per_image(run)
    if one is None or run.experiment is None:
        return None
    training, client, images = run.experiment.training, run.experiment.method.client, sum(run.result.partition.sizes)
    if fixed_features(run):
        summing = summing_flops(run)
        return None if summing is None else float(images * (one + summing))
    return float(BACKWARD * one * images * client.views.count * training.local_epochs * training.rounds)
