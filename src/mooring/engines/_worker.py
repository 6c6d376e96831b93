"""What a worker process of the local engine does: it trains clients, one after the other, and sends everything home.

Workers train the longest clients first, and some clients in two turns where whole clients would leave workers idle at
the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil
from time import monotonic

from torch import Tensor

from mooring.client import ClientJob, Device, States, Tensors, run_client, step_of_state, will_train
from mooring.data import Site
from mooring.errors import MooringError, TrainingError, UserCodeError
from mooring.events import ClientFailed, ClientResumed, ClientStarted, Event
from mooring.processes import Link, Stopped
from mooring.uploads import decode_tensors, encode, encode_tensors

WORTH = 1.05  # times as long without: less is not worth a client's way from one worker to another
STATE = {"format": 2}  # facts of a state on its way to the process that writes it


@dataclass(frozen=True)
class Turn:
    """A client from its start, or from where another worker has left it, to its end or until it is handed over."""

    client: int
    begun: int = 0  # steps before this turn
    until: int | None = None  # handed over at the first chance after so many steps; None: to its end
    state: bytes | None = None  # that the worker before has left


def turns(steps: Mapping[int, int], workers: int) -> list[Turn]:
    """The turns that can be given out at once; what is left of a client that is handed over is given out last.

    `steps` of every client, longest first: five clients of equal length keep two workers busy for three times their
    length when they stay whole, and for two and a half times when one of them is divided.
    """
    whole = [Turn(client) for client in steps]
    divided = wrapped(steps, workers)
    return (
        divided if WORTH * schedule_length(divided, steps, workers) < schedule_length(whole, steps, workers) else whole
    )


def wrapped(steps: Mapping[int, int], workers: int) -> list[Turn]:
    """No more than T = max(longest, sum / workers) for any worker (the wrap-around rule, McNaughton 1959): each is
    filled up to T, and the client that does not fit begins, before all others, with the next one."""
    most = max(*steps.values(), ceil(sum(steps.values()) / workers))
    first, rest, room = [], [], most
    for client, length in steps.items():
        if room == 0:
            room = most
        if length <= room:
            rest.append(Turn(client))
            room -= length
        else:
            first.append(Turn(client, until=length - room))
            room = most - (length - room)
    return first + rest


def schedule_length(given: list[Turn], steps: Mapping[int, int], workers: int) -> int:
    """Until the last worker has ended, in steps, if all steps take equally long."""
    waiting, busy, now = list(given), list[tuple[int, int, int | None]](), 0
    while waiting or busy:
        while waiting and len(busy) < workers:
            turn = waiting.pop(0)
            length = (turn.until or steps[turn.client]) - turn.begun
            heappush(busy, (now + length, turn.client, turn.until))
        now, client, until = heappop(busy)
        if until is not None:
            waiting.append(Turn(client, begun=until))
    return now


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
        return max((state for state in (kept, left) if state is not None), key=step_of_state, default=None)

    def stopping(self) -> bool:
        return self.link.stopping.is_set()

    def due(self, step: int) -> bool:
        return monotonic() - self.kept > self.seconds or self.stopping() or self.handed_over_at(step)

    def handed_over_at(self, step: int) -> bool:
        return self.turn.until is not None and step >= self.turn.until

    def keep(self, tensors: Tensors) -> None:
        goes_on = will_train(tensors)
        leaves = goes_on and self.handed_over_at(step_of_state(tensors)) and not self.link.stopping.is_set()
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
