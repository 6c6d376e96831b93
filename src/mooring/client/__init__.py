"""A client: its recipe, its one training loop, and what it uploads. Knows nothing of disk, terminal or network."""

from mooring.client._checkpoint import NO_STATES, States, Tensors, next_round, step_of_state, will_train
from mooring.client._device import CPU, Device, gpu
from mooring.client._engine import Engine
from mooring.client._job import ClientJob, Training
from mooring.client._loop import facts_of, run_client, train_step
from mooring.client._public_training import Bank, build_bank, random_bank, train_encoder
from mooring.client._recipe import (
    STAGE_TIMES,
    Alignment,
    Before,
    ClientRecipe,
    Clipping,
    FirstEpochs,
    Stage,
    StageTime,
    Views,
)
from mooring.client._state import ClientState

__all__ = [
    "CPU",
    "NO_STATES",
    "STAGE_TIMES",
    "Alignment",
    "Bank",
    "Before",
    "ClientJob",
    "ClientRecipe",
    "ClientState",
    "Clipping",
    "Device",
    "Engine",
    "FirstEpochs",
    "Stage",
    "StageTime",
    "States",
    "Tensors",
    "Training",
    "Views",
    "build_bank",
    "facts_of",
    "gpu",
    "next_round",
    "random_bank",
    "run_client",
    "step_of_state",
    "train_encoder",
    "train_step",
    "will_train",
]
