"""A client: its recipe, its one training loop, and what it uploads. Knows nothing of disk, terminal or network."""

from mooring.client.job import ClientJob, Training
from mooring.client.loop import run_client
from mooring.client.recipe import Alignment, ClientRecipe, Views

__all__ = ["Alignment", "ClientJob", "ClientRecipe", "Training", "Views", "run_client"]
