"""What runs inside a worker process: the clients it is given, everything sent home as messages."""

import os
from collections.abc import Iterator
from multiprocessing import parent_process
from threading import Thread
from time import monotonic
from traceback import format_exc
from typing import Any

import torch
from safetensors.torch import save

from mooring.client import ClientJob, run_client
from mooring.client.checkpoint import Tensors, Vault
from mooring.client.device import Device
from mooring.data.clients import Federation
from mooring.engines.memory import keep_freed_memory
from mooring.errors import MooringError, TrainingError
from mooring.types import Event

Message = tuple[str, Any]  # what it is, its content
NO_MEMORY = 77  # exit code of a worker that ran out of it


class Interrupted(Exception):  # noqa: N818
    """The state is safe; the client stops here."""


class Sender:
    """A client's keeper inside a worker: it reads the last state from disk, and sends new ones home.

    Only the parent writes: a state is never on disk before the uploads that it relies on.
    """

    def __init__(self, client: int, vault: Vault, home: Any, seconds: float) -> None:
        self.client = client
        self.vault = vault
        self.home = home
        self.seconds = seconds
        self.kept = monotonic()

    def last(self) -> Tensors | None:
        return self.vault.last(self.client)

    def due(self) -> bool:
        return monotonic() - self.kept > self.seconds or asked_to_stop(self.home)

    def keep(self, tensors: Tensors) -> None:
        self.home.send(("state", (self.client, save(dict(tensors)))))
        self.kept = monotonic()
        if asked_to_stop(self.home):
            raise Interrupted


def asked_to_stop(home: Any) -> bool:
    """While a client trains, the parent says only one thing."""
    return bool(home.poll())


def work(job: ClientJob, federation: Federation, vault: Vault, home: Any, seconds: float, device: Device) -> None:
    """Train the clients that come through `home`, until no client comes; all that happens is sent back."""
    leave_with_parent()
    torch.set_num_threads(1)  # one thread per worker: the same bytes for any number of workers
    keep_freed_memory()
    try:
        while isinstance(client := home.recv(), int):
            for message in train(job, federation, client, Sender(client, vault, home, seconds), device):
                home.send(message)
            home.send(("ended", client))
    except Interrupted:
        home.send(("interrupted", None))
    except (EOFError, BrokenPipeError):
        os._exit(1)  # nobody is left to work for
    except BaseException as error:
        if lacks_memory(error):
            os._exit(NO_MEMORY)  # there may be more when the others are done
        home.send(("crash", format_exc()))


def leave_with_parent() -> None:
    """End when the parent has ended, however and whenever it ended: a worker without one works for nobody."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()  # at once if it ended while this process was still starting
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def train(job: ClientJob, federation: Federation, client: int, sender: Sender, device: Device) -> Iterator[Message]:
    """One client's messages: its uploads as safetensors bytes, and its failure if it fails by itself."""

    def emit(event: Event) -> None:
        sender.home.send(("event", event))

    try:
        for payload in run_client(job, federation.shard(client), client, emit, sender, device):
            yield "upload", (payload.client, payload.round, payload.samples, save(dict(payload.tensors)))
    except MooringError as error:
        emit(failure(client, error))


def lacks_memory(error: BaseException) -> bool:
    """Torch has no type of its own for a CPU that has no memory left."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def out_of_memory(client: int) -> TrainingError:
    return TrainingError(f"client {client}: out of memory", "lower engine.workers or training.batch_size")


def failure(client: int, error: MooringError) -> Event:
    return Event("failed", {"client": client, "problem": error.problem, "remedy": error.remedy})
