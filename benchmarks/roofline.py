"""How much of a step is the model itself."""

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import NamedTuple

import torch
import torch.nn.functional as F

from benchmarks.table import Goal, Say, Table
from mooring.client import ClientJob, ClientState, Training, facts_of, train_step
from mooring.methods import METHODS
from mooring.models import BACKBONES, Blueprint
from mooring.processes import keep_freed_memory
from mooring.seeds import generator
from mooring.types import Progress

TURNS = 5


class Setting(NamedTuple):
    shape: tuple[int, int, int]
    batch: int
    times: int  # steps in a turn
    goal: float


SETTINGS = {
    "digits_net": Setting((1, 8, 8), 32, 40, 0.50),
    "resnet8": Setting((3, 32, 32), 64, 3, 0.80),
    "resnet18": Setting((3, 32, 32), 16, 1, 0.90),
}


def measure(say: Say) -> Table:
    torch.set_num_threads(1)
    keep_freed_memory()
    rows: list[tuple[object, ...]] = []
    goals = []
    for model, setting in SETTINGS.items():
        bare, loop = per_step(model, setting)
        images = 2 * setting.batch
        rows.append((model, f"{setting.batch} x 2", images / bare, images / loop))
        goals.append(Goal(model, setting.goal, bare / loop))
        say(f"{model}: {bare / loop:.2f} of the bare model")
    about = (
        "Samples/s of the bare model (forward and backward, one cross entropy) and of the whole client step of `v12` "
        f"with two views. Processor time of one core, medians of {TURNS} turns."
    )
    columns = ("model", "batch x views", "bare samples/s", "client samples/s")
    return Table("Roofline: the client's loop against its bare model", about, columns, rows, goals)


def per_step(model: str, setting: Setting) -> tuple[float, float]:
    """Seconds of a bare step and of a whole one."""
    recipe, batch = METHODS["v12"].client, setting.batch
    blueprint = Blueprint(BACKBONES[model](), recipe.head, setting.shape, tuple(map(str, range(10))), (0.5,), (0.25,))
    job = ClientJob(blueprint, recipe, Training(batch_size=batch), 1, True, frozenset())
    rng = generator(0, "bench")
    images = torch.randint(0, 256, (batch, *setting.shape), dtype=torch.uint8, generator=rng)
    labels = torch.randint(0, 10, (batch,), generator=rng)
    ready, twice = torch.rand(2 * batch, *setting.shape, generator=rng), labels.repeat(2)
    state = ClientState.start(job, facts_of(job, (batch,) * 10, 0))
    network = blueprint.build(generator(0, "network"))

    def bare() -> None:
        network.zero_grad()
        F.cross_entropy(network(ready).logits, twice).backward()

    def whole() -> None:
        state.measurements.add(train_step(job, state, images, labels, Progress(0, 1000)))

    bare()
    whole()
    turns = [(seconds(bare, setting.times), seconds(whole, setting.times)) for _ in range(TURNS)]
    one, other = zip(*turns, strict=True)
    return median(one), median(other)


def seconds(work: Callable[[], None], times: int) -> float:
    began = process_time()
    for _ in range(times):
        work()
    return (process_time() - began) / times
