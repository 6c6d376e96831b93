"""What a worker process of the local engine does: clients, one after the other, everything sent home."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from torch import Tensor

from mooring.client import ClientJob, run_client
from mooring.client.checkpoint import States, Tensors
from mooring.client.device import Device
from mooring.data.sites import Site
from mooring.errors import MooringError, TrainingError, UserCodeError
from mooring.events import ClientFailed
from mooring.processes import Link, Stopped
from mooring.uploads.codec import decode_tensors, encode, encode_tensors

STATE = {"format": 2}  # facts of a state on its way to the process that writes it


@dataclass(frozen=True)
class ClientRunner:
    """Trains the clients whose numbers come through the link; each worker takes one of the devices."""

    job: ClientJob
    sites: Mapping[int, Site]
    states: States
    seconds: float  # between states within a round
    devices: Sequence[Device]

    def __call__(self, task: int, link: Link) -> None:
        keeper = KeeperAway(task, self.states, link, self.seconds)
        device = self.devices[link.worker % len(self.devices)]
        try:
            for upload in run_client(self.job, self.sites[task], link.send, keeper, device):
                link.send(("upload", encode(upload)))
        except UserCodeError as error:
            link.send(error)  # every client would meet it
        except MooringError as error:
            link.send(failure(task, error))


class KeeperAway:
    """A client's keeper inside a worker: it reads the last state from disk, and sends new ones home.

    Only the parent writes: a state is never on disk before the uploads that it relies on.
    """

    def __init__(self, client: int, states: States, link: Link, seconds: float) -> None:
        self.client = client
        self.states = states
        self.link = link
        self.seconds = seconds
        self.kept = monotonic()

    def last(self) -> Tensors | None:
        return self.states.last(self.client)

    def due(self) -> bool:
        return monotonic() - self.kept > self.seconds or self.link.stopping.is_set()

    def keep(self, tensors: Tensors) -> None:
        self.link.send(("state", encode_tensors(tensors, STATE)))
        self.kept = monotonic()
        if self.link.stopping.is_set():
            raise Stopped


def unpacked_state(data: bytes) -> dict[str, Tensor]:
    return decode_tensors(data, what="state")[1]


def out_of_memory(client: int) -> TrainingError:
    return TrainingError(f"client {client}: out of memory", "lower engine.workers or training.batch_size")


def failure(client: int, error: MooringError) -> ClientFailed:
    return ClientFailed(client, error.problem, error.remedy)
