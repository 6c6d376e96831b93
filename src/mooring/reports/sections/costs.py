"""What it costs: at the clients, on the wire, at the server, and for every prediction ever after."""

from mooring.reports.book import Book, Run
from mooring.reports.flops import forward_flops, training_flops
from mooring.reports.section import Section
from mooring.reports.table import Table, average

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
    "Sums over all clients, means over n seeds. Seconds are wall clock on the machine of the run. FLOPs are counted on "
    "the model for one image, times images, views, epochs and rounds; forward and backward together are taken as three "
    "times forward, losses and augmentation are left out. Inference x is how many encoders one prediction goes through."
)


def costs(book: Book) -> Section:
    if not book.runs:
        return Section("costs", "Costs", "")
    rows = [
        (
            group.label,
            average(sum(run.seconds.values()) if run.seconds else None for run in group.runs),
            average(max(run.seconds.values(), default=None) for run in group.runs),
            average(training_flops(run) for run in group.runs),
            round(average(run.upload_bytes for run in group.runs) or 0),
            round(average(download_bytes(run) for run in group.runs) or 0),
            average(run.last.get("server_seconds") for run in group.runs),
            whole(average(passes(run) for run in group.runs)),
            average(inference_flops(run) for run in group.runs),
            len(group.runs),
        )
        for group in book.groups
    ]
    lead = "One upload per client; what fusing saves in training it may ask back at every prediction."
    return Section("costs", "Costs", lead, tables=(Table("costs", "Costs", COLUMNS, tuple(rows), NOTE),))


def download_bytes(run: Run) -> int:
    """What all clients together receive before they train."""
    return int(run.result.get("download_bytes") or 0) * int(run.result["clients"])


def passes(run: Run) -> float | None:
    """Encoders per prediction; a run that fuses nothing has one model per client."""
    return float(run.last["passes"]) if run.experiment.method.fusion else 1.0


def inference_flops(run: Run) -> float | None:
    one, times = forward_flops(run), passes(run)
    return None if one is None or times is None else one * times


def whole(value: float | None) -> float | int | None:
    """A mean of equal counts is a count."""
    return int(value) if value is not None and value == int(value) else value
