"""What it costs: at the clients, on the wire, at the server, and for every prediction ever after.

Floating-point operations are counted on the model and not guessed.
"""

from mooring.models.flops import forward_flops
from mooring.models.network import Blueprint
from mooring.reports.book import Book, Run
from mooring.reports.section import Section
from mooring.reports.table import Table, average

BACKWARD = 3  # forward and backward together, in forwards
FEW = 3  # experiments whose costs are read at once
COLUMNS = (
    "experiment",
    "client seconds",
    "slowest client (s)",
    "training FLOPs",
    "upload bytes",
    "download bytes",
    "server seconds",
    "inference x",
    "inference FLOPs",
    "n",
)
NOTE = (
    "Sums over all clients, means over n seeds; seconds by the clock of the machine. FLOPs are counted on the model, "
    "for one image, times images, views, epochs and rounds; backward is taken as twice forward, losses and "
    "augmentation are left out. Inference x: how many encoders one prediction goes through."
)


def costs(book: Book) -> Section:
    groups = [group for group in book.groups if group.first.experiment is not None]  # a log tells no costs
    if not groups:
        return Section("costs", "Costs", "")
    rows = [
        (
            group.label,
            average(sum(run.seconds.values()) if run.seconds else None for run in group.runs),
            average(max(run.seconds.values(), default=None) for run in group.runs),
            average(training_flops(run) for run in group.runs),
            whole(average(run.upload_bytes for run in group.runs)),
            round(average(download_bytes(run) for run in group.runs) or 0),
            average(run.last.server_seconds for run in group.runs),
            whole(average(passes(run) for run in group.runs)),
            average(inference_flops(run) for run in group.runs),
            len(group.runs),
        )
        for group in groups
    ]
    lead = "One upload per client; what fusing saves in training it may ask back at every prediction."
    table = Table("costs", "Costs", COLUMNS, tuple(rows), NOTE, folded=len(rows) > FEW)
    return Section("costs", "Costs", lead, tables=(table,))


def download_bytes(run: Run) -> int:
    """What all clients together receive before they train."""
    return (run.result.download_bytes or 0) * run.result.clients


def passes(run: Run) -> float | None:
    """Encoders per prediction; a run that fuses nothing has one model per client."""
    told = run.last.passes if run.experiment is None or run.experiment.method.fusion else 1.0
    return None if told is None else float(told)


def inference_flops(run: Run) -> float | None:
    one, times = flops_per_image(run), passes(run)
    return None if one is None or times is None else one * times


def whole(value: float | None) -> float | int | None:
    """A mean of equal counts is a count."""
    return int(value) if value is not None and value == int(value) else value


def flops_per_image(run: Run) -> int | None:
    """One image through one client's network; unknown without the data's shape, or where nothing is trained."""
    experiment, shape = run.experiment, run.result.image_shape
    if experiment is None or len(shape) != 3 or not run.classes or not experiment.method.client.terms:
        return None
    return forward_flops(
        Blueprint(
            experiment.model,
            experiment.method.client.head,
            (shape[0], shape[1], shape[2]),
            run.classes,
            experiment.data.mean,
            experiment.data.std,
        )
    )


def training_flops(run: Run) -> float | None:
    """All clients: 3 x forward x images x views x epochs x rounds."""
    one = flops_per_image(run)
    if one is None or run.experiment is None:
        return None
    training, views = run.experiment.training, run.experiment.method.client.views.count
    images = sum(run.result.partition.sizes)
    return float(BACKWARD * one * images * views * training.local_epochs * training.rounds)
