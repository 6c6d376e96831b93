"""What a second worker is worth when clients differ in size."""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.images import write_images
from benchmarks.table import Goal, Say, Table
from mooring import load
from mooring.engines import Local
from mooring.events import Event
from mooring.execution import prepare

SIZES = (384, 240, 192, 144, 96)
EPOCHS = 6
TURNS = 2


def measure(say: Say) -> Table:
    taken: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory() as folder:
        data = Path(folder) / "images.npz"
        write_images(data, SIZES, 10)
        for _ in range(TURNS):
            for workers, times in taken.items():
                times.append(seconds(data, workers))
                say(f"{workers} workers: {times[-1]:.1f} s")
    one, two = median(taken[1]), median(taken[2])
    bound = min(2.0, sum(SIZES) / max(SIZES))
    about = (
        f"Five clients of {', '.join(map(str, SIZES))} colour images, ResNet-8, `v12`, {EPOCHS} epochs. "
        f"Medians of {TURNS}. The upper bound is {bound:.2f}."
    )
    goals = [
        Goal("two workers", 0.9 * bound, one / two),
    ]
    rows: list[tuple[object, ...]] = [(1, one, 1.0), (2, two, one / two)]
    return Table("Scaling: one worker and two", about, ("workers", "seconds", "speed-up"), rows, goals)


def seconds(data: Path, workers: int) -> float:
    """From the first event of a client until all have uploaded."""
    (experiment,) = load(
        overrides=[
            *("data.source=arrays", f"data.root={data}", "partition.kind=sites", "model.kind=resnet8", "method=v12"),
            *("training.rounds=1", f"training.local_epochs={EPOCHS}", "training.batch_size=48"),
        ]
    )
    federation, job = prepare(experiment)
    began: list[float] = []

    def watch(event: Event) -> None:
        began.append(monotonic())

    uploads = list(Local(workers).collect(job, federation.sites(), watch))
    assert len(uploads) == len(SIZES)
    return monotonic() - began[0]
