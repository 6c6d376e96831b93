"""What a worker process of the local engine does: clients, one after the other, everything sent home."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from torch import Tensor

from mooring.client import ClientJob, Device, States, Tensors, run_client, step_of, will_train
from mooring.data import Site
from mooring.engines._turns import Turn
from mooring.errors import MooringError, TrainingError, UserCodeError
from mooring.events import ClientFailed, ClientResumed, ClientStarted, Event
from mooring.processes import Link, Stopped
from mooring.uploads import decode_tensors, encode, encode_tensors

STATE = {"format": 2}  # facts of a state on its way to the process that writes it


class HandedOver(Exception):  # noqa: N818
    """The client's state is on its way home; another worker goes on from it."""


@dataclass(frozen=True)
class ClientRunner:
    """Trains the clients whose turns come through the link; each worker takes one of the devices."""

    job: ClientJob
    sites: Mapping[int, Site]
    states: States
    seconds: float  # between states within a round
    devices: Sequence[Device]

    def __call__(self, task: Turn, link: Link) -> None:
        keeper = KeeperAway(task, self.states, link, self.seconds)
        device = self.devices[link.worker % len(self.devices)]

        def emit(event: Event) -> None:
            if task.state is None or not isinstance(event, ClientStarted | ClientResumed):  # said in its first turn
                link.gather(event)

        try:
            for upload in run_client(self.job, self.sites[task.client], emit, keeper, device):
                link.gather(("upload", encode(upload)))  # its state follows, or the client's end
        except HandedOver:
            pass
        except UserCodeError as error:
            link.send(error)  # every client would meet it
        except MooringError as error:
            link.send(failure(task.client, error))


class KeeperAway:
    """A client's keeper inside a worker: it reads the last state from disk or from its turn, and sends new ones home.

    Only the parent writes: a state is never on disk before the uploads that it relies on.
    """

    def __init__(self, turn: Turn, states: States, link: Link, seconds: float) -> None:
        self.turn = turn
        self.states = states
        self.link = link
        self.seconds = seconds
        self.kept = monotonic()

    def last(self) -> Tensors | None:
        kept = self.states.last(self.turn.client)
        left = None if self.turn.state is None else unpacked_state(self.turn.state)
        return max((state for state in (kept, left) if state is not None), key=step_of, default=None)

    def due(self, step: int) -> bool:
        return monotonic() - self.kept > self.seconds or self.link.stopping.is_set() or self.handed_over_at(step)

    def handed_over_at(self, step: int) -> bool:
        return self.turn.until is not None and step >= self.turn.until

    def keep(self, tensors: Tensors) -> None:
        goes_on = will_train(tensors)
        leaves = goes_on and self.handed_over_at(step_of(tensors)) and not self.link.stopping.is_set()
        tell = self.link.send if goes_on else self.link.gather  # the last state travels with the word that it was
        tell(("handed over" if leaves else "state", encode_tensors(tensors, STATE)))
        self.kept = monotonic()
        if leaves:
            raise HandedOver
        if self.link.stopping.is_set():
            raise Stopped


def unpacked_state(data: bytes) -> dict[str, Tensor]:
    return decode_tensors(data, what="state")[1]


def out_of_memory(client: int) -> TrainingError:
    return TrainingError(f"client {client}: out of memory", "lower engine.workers or training.batch_size")


def failure(client: int, error: MooringError) -> ClientFailed:
    return ClientFailed(client, error.problem, error.remedy)
