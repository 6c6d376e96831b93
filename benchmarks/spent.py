"""Where the time of a run goes, and how much of it is evaluation."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.images import write_images
from benchmarks.process import apart
from benchmarks.table import Goal, Say, Table
from mooring import load, run_experiment
from mooring.record import TimeSpent

MOST = 0.15  # of a run that nobody has set anything of but its method
DEFAULTS = ("mooring", "fedavg-1", "v7", "v12")
CLIENTS, IMAGES, TEST = 5, 2_000, 10_000
COLOUR = ("model.kind=resnet8", "training.rounds=1", "training.local_epochs=10")


def measure(say: Say) -> Table:
    rows: list[tuple[object, ...]] = []
    shares: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        data = Path(folder) / "images.npz"
        write_images(data, [IMAGES // CLIENTS] * CLIENTS, TEST)
        colour = (*COLOUR, "data.source=arrays", f"data.root={data}", "partition.kind=sites")
        runs = {f"`{method}`, digits": [f"method={method}"] for method in DEFAULTS}
        runs |= {f"`{method}`, colour": [f"method={method}", *colour] for method in ("fedavg-1", "v7")}
        runs["`v7`, colour, `data.test_limit=2000`"] = ["method=v7", *colour, "data.test_limit=2000"]
        for number, (name, words) in enumerate(runs.items()):
            spent: TimeSpent = apart(spent_by, [*words, f"out={folder}/{number}"]).value
            shares[name] = spent.evaluated
            parts = (spent.train, spent.fuse, spent.evaluate)
            rows.append((name, *parts, f"{100 * spent.evaluated:.0f} %"))
            say(f"{name}: {spent}")
    about = (
        f"Seconds, two workers. Digits: default settings. Colour: {IMAGES:,} images of 32 x 32 pixels, ResNet-8, 10 "
        f"epochs, {TEST:,} test images."
    )
    worst = max(shares[name] for name in runs if name.endswith("digits"))
    goals = [Goal("share of evaluation, worst of the default runs", MOST, worst, at_most=True)]
    return Table(
        "Where the time goes",
        about,
        ("run", "train", "fuse", "evaluate", "evaluation"),
        rows,
        goals,
    )


def spent_by(words: list[str]) -> TimeSpent:
    (experiment,) = load(overrides=words)
    spent = run_experiment(experiment).spent
    assert spent is not None
    return spent
