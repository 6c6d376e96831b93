"""What runs inside a worker process: clients one after another, everything sent home as messages."""

import os
from queue import Empty
from threading import Thread
from time import sleep
from traceback import format_exc
from typing import Any

import torch
from safetensors.torch import save

from mooring.client import ClientJob, run_client
from mooring.data.clients import Federation
from mooring.engines.memory import keep_freed_memory
from mooring.errors import MooringError
from mooring.types import Emit, Event

Message = tuple[str, Any]  # what it is, its content
WATCH_SECONDS = 1.0


def work(job: ClientJob, federation: Federation, tasks: Any, home: Any) -> None:
    """Take clients from `tasks` until there are none left; send events, uploads and failures to `home`."""
    leave_with_parent()
    torch.set_num_threads(1)  # one thread per worker: the same bytes for any number of workers
    keep_freed_memory()

    def emit(event: Event) -> None:
        home.put(("event", event))

    try:
        while True:
            try:
                client = tasks.get_nowait()
            except Empty:
                break
            for message in train(job, federation, client, emit):
                home.put(message)
        home.put(("end", None))
    except BaseException:
        home.put(("crash", format_exc()))
        raise


def leave_with_parent() -> None:
    """End when the parent has ended, however it ended: a worker without one works for nobody."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(WATCH_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def train(job: ClientJob, federation: Federation, client: int, emit: Emit) -> Any:
    """One client's messages: its uploads as safetensors bytes, and its failure if it fails by itself."""
    try:
        for payload in run_client(job, federation.shard(client), client, emit):
            yield "upload", (payload.client, payload.round, payload.samples, save(dict(payload.tensors)))
    except MooringError as error:
        emit(Event("failed", {"client": client, "problem": error.problem, "remedy": error.remedy}))
