"""A client: its recipe, its one training loop, and what it uploads. Knows nothing of disk, terminal or network."""

from mooring.client.engine import Engine
from mooring.client.job import ClientJob, Training
from mooring.client.loop import run_client
from mooring.client.recipe import Alignment, Before, ClientRecipe, FirstEpochs, Stage, Views

__all__ = [
    "Alignment",
    "Before",
    "ClientJob",
    "ClientRecipe",
    "Engine",
    "FirstEpochs",
    "Stage",
    "Training",
    "Views",
    "run_client",
]
