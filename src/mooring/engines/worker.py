"""What runs inside a worker process: the clients it is given, everything sent home as messages."""

import os
from collections.abc import Iterator
from signal import SIG_IGN, SIGINT, signal
from threading import Thread
from time import monotonic, sleep
from traceback import format_exc
from typing import Any

import torch
from safetensors.torch import save

from mooring.client import ClientJob, run_client
from mooring.client.checkpoint import Tensors, Vault
from mooring.data.clients import Federation
from mooring.engines.memory import keep_freed_memory
from mooring.errors import MooringError
from mooring.types import Event

Message = tuple[str, Any]  # what it is, its content
WATCH_SECONDS = 1.0


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


def work(job: ClientJob, federation: Federation, vault: Vault, home: Any, seconds: float) -> None:
    """Train the clients that come through `home` until None comes; send events, uploads, states and failures back."""
    leave_with_parent()
    signal(SIGINT, SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    torch.set_num_threads(1)  # one thread per worker: the same bytes for any number of workers
    keep_freed_memory()
    try:
        while (client := home.recv()) is not None:
            for message in train(job, federation, client, Sender(client, vault, home, seconds)):
                home.send(message)
            home.send(("ended", client))
    except Interrupted:
        home.send(("interrupted", None))
    except (EOFError, BrokenPipeError):
        os._exit(1)  # nobody is left to work for
    except BaseException:
        home.send(("crash", format_exc()))


def leave_with_parent() -> None:
    """End when the parent has ended, however it ended: a worker without one works for nobody."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(WATCH_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def train(job: ClientJob, federation: Federation, client: int, sender: Sender) -> Iterator[Message]:
    """One client's messages: its uploads as safetensors bytes, and its failure if it fails by itself."""

    def emit(event: Event) -> None:
        sender.home.send(("event", event))

    try:
        for payload in run_client(job, federation.shard(client), client, emit, sender):
            yield "upload", (payload.client, payload.round, payload.samples, save(dict(payload.tensors)))
    except MooringError as error:
        emit(failure(client, error))


def failure(client: int, error: MooringError) -> Event:
    return Event("failed", {"client": client, "problem": error.problem, "remedy": error.remedy})
