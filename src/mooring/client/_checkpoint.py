"""A client's whole state as named tensors, and back: resumed or not, the same bytes."""

from collections.abc import Mapping
from time import monotonic
from typing import Protocol

import torch
from torch import Generator, Tensor

from mooring.client._measured import MeasuredRow
from mooring.client._state import ClientState, Position

Tensors = Mapping[str, Tensor]


class StateKeeper(Protocol):
    """Who keeps one client's state in a safe place; the client knows nothing of disks."""

    def last(self) -> Tensors | None:
        """The state to go on from, if there is one."""
        ...

    def due(self, step: int) -> bool:
        """Is it time to keep a state within a round, so many steps after the start?"""
        ...

    def stopping(self) -> bool:
        """Is the client asked to save and stop? Then `keep` does not return."""
        ...

    def keep(self, tensors: Tensors) -> None: ...


class States(Protocol):
    """Who keeps the states of all clients of a run."""

    def last(self, client: int) -> Tensors | None: ...

    def keep(self, client: int, tensors: Tensors) -> None: ...


class NoStates:
    """Nothing is kept: a run that is interrupted begins again."""

    def last(self, client: int) -> Tensors | None:
        return None

    def keep(self, client: int, tensors: Tensors) -> None:
        pass


class KeepsNothing:
    """Keeps no state, for clients that are never resumed."""

    def last(self) -> Tensors | None:
        return None

    def due(self, step: int) -> bool:
        return False

    def stopping(self) -> bool:
        return False

    def keep(self, tensors: Tensors) -> None:
        pass


KEEPS_NOTHING = KeepsNothing()
NO_STATES = NoStates()


def state_tensors(state: ClientState) -> dict[str, Tensor]:
    """Weights, momentum, loss scale, balancer, memory, random streams, position, and what the epoch measured so far."""
    at = state.position
    tensors = {
        **final_tensors(state),
        **{f"network.{name}": tensor for name, tensor in state.network.state_dict().items()},
        **{f"velocity.{g}.{i}": v for g, group in enumerate(state.optimizer.groups) for i, v in group.velocity.items()},
        **{f"stream.{name}": stream.get_state() for name, stream in streams(state).items()},
        **state.loss_scale.state(),
        "seconds": torch.tensor(monotonic() - state.began, dtype=torch.float64),
    }
    if at.batch and state.epoch_start is not None:  # the same images in the same order, once more
        tensors["stream.order"] = state.epoch_start
    if state.balancer is not None:
        tensors |= {f"balancer.{name}": tensor for name, tensor in state.balancer.state_dict().items()}
    if state.memory is not None:
        memory = state.memory
        tensors |= {"memory.features": memory.features, "memory.labels": memory.labels}
        tensors |= {"memory.written": torch.tensor(memory.written)}
    rows = enumerate(state.measurements.rows)
    tensors |= {f"measured.{i}.{'|'.join(names)}": values for i, (names, values) in rows}
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}


def final_tensors(state: ClientState) -> dict[str, Tensor]:
    """All that a client needs that will never train again: where it stands."""
    at = state.position
    return {"position": torch.tensor([at.round, at.epoch, at.batch, state.step])}


def step_of_state(tensors: Tensors) -> int:
    """The number of training steps before this state."""
    return int(tensors["position"][-1])


def next_round(tensors: Tensors) -> int:
    """The round in which a state goes on; that after the last one if its client is done."""
    return int(tensors["position"][0])


def will_train(tensors: Tensors) -> bool:
    """Or is this all that is left of a client at its end?"""
    return len(tensors) > 1


def restored_state(state: ClientState, tensors: Tensors) -> ClientState:
    """A state that has just been started, brought to where `tensors` were taken."""
    round_, epoch, batch, state.step = tensors["position"].tolist()
    state.position = Position(round_, epoch, batch)
    if not will_train(tensors):
        return state
    if "seconds" in tensors:  # states of versions before have none
        state.began = monotonic() - float(tensors["seconds"])
    state.loss_scale.restore(tensors)
    state.network.load_state_dict(below("network.", tensors))
    if state.balancer is not None:
        state.balancer.load_state_dict(below("balancer.", tensors))
    for g, group in enumerate(state.optimizer.groups):
        kept = below(f"velocity.{g}.", tensors)
        group.velocity = {int(i): state.device.take(v.clone()) for i, v in kept.items()}
    for name, stream in streams(state).items():
        stream.set_state(tensors[f"stream.{name}"])
    if state.memory is not None:
        state.memory.features.copy_(tensors["memory.features"])
        state.memory.labels.copy_(tensors["memory.labels"])
        state.memory.written = int(tensors["memory.written"])
    rows = {int(name.partition(".")[0]): (name, values) for name, values in below("measured.", tensors).items()}
    state.measurements.rows = [row(name, state.device.take(values)) for _, (name, values) in sorted(rows.items())]
    return state


def row(name: str, values: Tensor) -> MeasuredRow:
    return tuple(name.partition(".")[2].split("|")), values


def streams(state: ClientState) -> dict[str, Generator]:
    return {"order": state.order, "augment": state.augment, "weighting": state.weighting}


def below(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
