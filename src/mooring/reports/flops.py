"""Floating-point operations, counted on the model and not guessed."""

from functools import lru_cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from mooring.models.network import Blueprint
from mooring.reports.book import Run
from mooring.reports.names import look

BACKWARD = 3  # forward and backward together, in forwards


def forward_flops(run: Run) -> int | None:
    """One image through one client's network; unknown without the data's shape, or where nothing is trained."""
    seen = look(run.experiment.data)
    if seen is None or run.result["confusion"] is None or not run.experiment.method.client.terms:
        return None
    experiment = run.experiment
    return count(
        Blueprint(
            experiment.model,
            experiment.method.client.head,
            seen.shape,
            tuple(map(str, range(len(run.result["confusion"])))),
            experiment.data.mean,
            experiment.data.std,
        )
    )


@lru_cache(maxsize=64)
def count(blueprint: Blueprint) -> int:
    network = blueprint.build(torch.Generator()).eval()
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        network(torch.zeros(1, *blueprint.shape))
    return int(counter.get_total_flops())


def training_flops(run: Run) -> float | None:
    """All clients: 3 x forward x images x views x epochs x rounds."""
    one = forward_flops(run)
    if one is None:
        return None
    training, views = run.experiment.training, run.experiment.method.client.views.count
    images = sum(run.result["partition"]["sizes"])
    return float(BACKWARD * one * images * views * training.local_epochs * training.rounds)
