"""How much of a step is the model itself: samples/s of bare forward + backward on ready tensors, and of the whole loop.

    python benchmarks/steps.py [MODEL ...]

Both are measured in turns within one run on one core, so that the ratio means something on a noisy machine.
"""

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch

from mooring.client import ClientJob, Training
from mooring.client.loop import facts_of, train_step
from mooring.client.state import ClientState
from mooring.engines.memory import keep_freed_memory
from mooring.methods import METHODS
from mooring.models.backbones import BACKBONES
from mooring.models.network import Blueprint
from mooring.seeds import generator
from mooring.types import Progress

SETTINGS = {"digits_net": ((1, 8, 8), 32, 40), "resnet8": ((3, 32, 32), 64, 4), "resnet18": ((3, 32, 32), 64, 1)}
TURNS = 5


def seconds(work: Callable[[], None], times: int) -> float:
    began = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - began) / times


def measure(model: str) -> None:
    shape, batch, times = SETTINGS[model]
    recipe = METHODS["v12"].client  # two views, all losses, a learned lambda
    blueprint = Blueprint(BACKBONES[model](), recipe.head, shape, 10, (0.5,), (0.25,))
    job = ClientJob(blueprint, recipe, Training(batch_size=batch), 1, True, frozenset())
    rng = generator(0, "bench")
    images = torch.randint(0, 256, (batch, *shape), dtype=torch.uint8, generator=rng)
    labels = torch.randint(0, 10, (batch,), generator=rng)
    ready = torch.rand(2 * batch, *shape, generator=rng)
    state = ClientState.start(job, facts_of(job.training, (batch,) * 10, 0))
    bare = blueprint.build(generator(0, "network"))

    def forward_backward() -> None:
        bare.zero_grad()
        torch.nn.functional.cross_entropy(bare(ready).logits, labels.repeat(2)).backward()

    def whole_step() -> None:
        train_step(job, state, images, labels, Progress(0, 1000))

    forward_backward()
    whole_step()
    turns = [(seconds(forward_backward, times), seconds(whole_step, times)) for _ in range(TURNS)]
    model_seconds, loop_seconds = (median(column) for column in zip(*turns, strict=True))
    print(
        f"{model:10s}  batch {batch:3d} x 2 views  bare {2 * batch / model_seconds:8.0f} samples/s  "
        f"loop {2 * batch / loop_seconds:8.0f} samples/s  ratio {model_seconds / loop_seconds:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep_freed_memory()
    for name in sys.argv[1:] or ("digits_net", "resnet8"):
        measure(name)
