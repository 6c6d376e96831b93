"""A client that trains nothing: it adds up statistics of its images, batch after batch, and uploads them once.

The sums over some of the images are a state like any other: an interrupted client goes on after the last whole batch.
"""

from collections.abc import Mapping
from time import monotonic

import torch
from torch import Tensor

from mooring.client._checkpoint import StateKeeper, Tensors, below, next_round, step_of_state
from mooring.client._job import ClientJob
from mooring.data import ImageSet, batch_slices
from mooring.events import ClientProgress, ClientResumed, Emit, Remark
from mooring.models import Network
from mooring.processes import StopRequested, stopping_if
from mooring.uploads import FEATURE_BATCH, Accumulator, Part, StreamedPart, wire_name

TICK_SECONDS = 0.25
CONTENT = "content"  # what tells the images from others
SECONDS = "seconds"

Sums = Mapping[Part, Accumulator]


def has_sent(job: ClientJob, last: Tensors | None) -> bool:
    """Is the client of this state at its end?"""
    return last is not None and next_round(last) >= job.training.rounds


def sent_state(job: ClientJob, images: int) -> dict[str, Tensor]:
    """The state of a client at its end."""
    return {"position": torch.tensor([job.training.rounds, 0, 0, images])}


def add_up(
    job: ClientJob, network: Network, shard: ImageSet, client: int, emit: Emit, keeper: StateKeeper
) -> tuple[dict[Part, Tensors], float]:
    """The tensors of all parts that take one batch after the other, and the seconds that they took.

    Batches are the same wherever a client was interrupted, and so are the sums, to the bit.
    """
    sums: Sums = {part: part.accumulator(network) for part in job.needs if isinstance(part, StreamedPart)}
    if not sums:
        return {}, 0.0
    content = torch.frombuffer(bytearray.fromhex(shard.identity()), dtype=torch.uint8)
    done, seconds = restored_sums(sums, content, client, emit, keeper.last())
    began = ticked = monotonic()
    emit(ClientProgress(client, 0, done, len(shard)))
    for own in batch_slices(shard.images, FEATURE_BATCH):
        if own.start < done:
            continue
        try:
            with stopping_if(keeper.stopping):
                images = shard.images[own]
                features = [part_sums.features(images) for part_sums in sums.values()]
        except StopRequested:
            keeper.keep(sums_state(sums, content, own.start, seconds + monotonic() - began))
            raise
        for part_sums, x in zip(sums.values(), features, strict=True):
            part_sums.add(x, shard.labels[own])
        if monotonic() - ticked > TICK_SECONDS:
            ticked = monotonic()
            emit(ClientProgress(client, 0, own.stop, len(shard)))
        if own.stop < len(shard) and keeper.due(own.stop):
            keeper.keep(sums_state(sums, content, own.stop, seconds + monotonic() - began))
    return {part: part_sums.tensors() for part, part_sums in sums.items()}, seconds + monotonic() - began


def sums_state(sums: Sums, content: Tensor, done: int, seconds: float) -> dict[str, Tensor]:
    """All that is needed to go on after the first `done` images."""
    tensors = {
        "position": torch.tensor([0, 0, 0, done]),
        CONTENT: content,
        SECONDS: torch.tensor(seconds, dtype=torch.float64),
        **{state_name(part) + name: tensor for part, own in sums.items() for name, tensor in own.state().items()},
    }
    return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def restored_sums(sums: Sums, content: Tensor, client: int, emit: Emit, last: Tensors | None) -> tuple[int, float]:
    """How many images are in the sums, and the seconds that they took; none if the images are others now."""
    if last is None or CONTENT not in last:
        return 0, 0.0
    if not torch.equal(last[CONTENT], content):
        emit(Remark(f"client {client}: its images have changed since it was interrupted; it begins again"))
        return 0, 0.0
    for part, own in sums.items():
        own.restore(below(state_name(part), last))
    emit(ClientResumed(client, 0, step_of_state(last)))
    return step_of_state(last), float(last[SECONDS])


def state_name(part: Part) -> str:
    return f"sums.{wire_name(part)}."
