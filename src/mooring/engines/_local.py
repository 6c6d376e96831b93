"""Clients on this machine: one process per worker, one torch thread each."""

import os
import pickle
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, ClassVar, Literal

import torch

from mooring.client import (
    CPU,
    NO_STATES,
    ClientJob,
    Device,
    Engine,
    States,
    Tensors,
    facts_of,
    gpu,
    run_client,
    step_of_state,
)
from mooring.data import Site
from mooring.engines._worker import ClientRunner, Turn, failure, out_of_memory, turns, unpacked_state
from mooring.errors import ConfigError, MooringError, TrainingError, UserCodeError
from mooring.events import Emit, Event
from mooring.processes import (
    NO_MEMORY,
    Died,
    Message,
    WorkerPool,
    keep_freed_memory,
    lacks_memory,
    remembered_interrupt,
    threads,
)
from mooring.schema import Checked, Count, Doc, Positive
from mooring.types import Upload
from mooring.uploads import decode


@dataclass(frozen=True)
class Local(Checked):
    """`workers` processes (default: one per core, never more than clients); one worker runs in this process."""

    kind: ClassVar[str] = "local"
    workers: Annotated[Count | None, Doc("processes; `null`: one per core; the result does not depend on it")] = None
    save_minutes: Annotated[Positive, Doc("minutes between two saved states within a round")] = 5.0
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        Doc("where clients train and models are evaluated; `auto`: the GPUs, if any ([GPU](gpu.md))"),
    ] = "auto"

    def collect(
        self, job: ClientJob, sites: Sequence[Site], emit: Emit, states: States = NO_STATES
    ) -> Iterator[Upload]:
        largest_first = sorted(sites, key=lambda site: -(site.size or 0))
        workers = min(self.workers or os.cpu_count() or 1, len(sites))
        devices = devices_for(self.device)
        if workers == 1 or b"__main__" in pickle.dumps(job):  # a part written in the user's script lives only here
            return self._here(job, largest_first, emit, states, devices[0])
        return self._apart(job, largest_first, emit, states, devices, workers)

    def _apart(
        self,
        job: ClientJob,
        sites: Sequence[Site],
        emit: Emit,
        states: States,
        devices: Sequence[Device],
        workers: int,
    ) -> Iterator[Upload]:
        """In processes of their own; only this one writes."""
        runner = ClientRunner(job, {site.number: site for site in sites}, states, 60 * self.save_minutes, devices)
        pool: WorkerPool[Turn] = WorkerPool(runner, workers)
        handed_over = set[int]()
        for said in pool.run(turns_of(job, sites, workers)):
            match said:
                case Message(content=Event() as event):
                    emit(event)
                case Message(content=UserCodeError() as error):
                    raise error
                case Message(content=("upload", bytes() as data)):
                    yield decode(data, job.limits)
                case Message(task=turn, content=("state", bytes() as data)):
                    states.keep(turn.client, unpacked_state(data))
                case Message(task=turn, content=("handed over", bytes() as data)):
                    left = unpacked_state(data)
                    states.keep(turn.client, left)
                    if turn.client not in handed_over:  # or its first worker died over its last word, and said it twice
                        pool.add(Turn(turn.client, begun=step_of_state(left), state=data))
                    handed_over.add(turn.client)
                case Died(task=turn, exit_code=code):
                    emit(failure(turn.client, given_up(turn.client, code)))

    def _here(
        self, job: ClientJob, sites: Sequence[Site], emit: Emit, states: States, device: Device
    ) -> Iterator[Upload]:
        keep_freed_memory()
        with threads(1), remembered_interrupt() as interrupted:
            for site in sites:
                keeper = KeeperHere(site.number, states, 60 * self.save_minutes, interrupted)
                try:
                    yield from run_client(job, site, emit, keeper, device)
                except UserCodeError:
                    raise  # every client would meet it
                except MooringError as error:
                    emit(failure(site.number, error))
                except (MemoryError, RuntimeError) as error:
                    if not lacks_memory(error):
                        raise
                    emit(failure(site.number, out_of_memory(site.number)))


def turns_of(job: ClientJob, sites: Sequence[Site], workers: int) -> list[Turn]:
    """Who trains when; a client whose length nobody knows before it has looked at its images is not divided."""
    if not job.recipe.terms or any(site.size is None for site in sites):
        return [Turn(site.number) for site in sites]
    return turns({site.number: facts_of(job, (site.size or 0,), site.number).steps for site in sites}, workers)


def given_up(client: int, exit_code: int | None) -> TrainingError:
    """Why nobody tries this client again."""
    if exit_code == NO_MEMORY:
        return out_of_memory(client)
    died = f"client {client}: {Died.workers} workers died over it, the last with exit code {exit_code}"
    return TrainingError(died, "lower engine.workers, and look into the system's log for a lack of memory")


def devices_for(wanted: str) -> list[Device]:
    """The devices that workers take in turns: several clients share a GPU when there are more workers than GPUs."""
    found = torch.cuda.device_count() if wanted != "cpu" else 0
    if wanted == "cuda" and not found:
        raise ConfigError(["engine.device=cuda: this machine has no GPU that torch can use; set engine.device=auto"])
    return [gpu(number) for number in range(found)] or [CPU]


def device_of_server(engine: Engine) -> Device:
    """Where fused models are examined: the first GPU that this engine's clients may train on, else the CPU."""
    return devices_for(engine.device)[0] if isinstance(engine, Local) else CPU


class KeeperHere:
    """A client's keeper in the process that also writes the run folder."""

    def __init__(self, client: int, states: States, seconds: float, interrupted: threading.Event) -> None:
        self.client = client
        self.states = states
        self.seconds = seconds
        self.interrupted = interrupted
        self.kept = monotonic()

    def last(self) -> Tensors | None:
        return self.states.last(self.client)

    def stopping(self) -> bool:
        return self.interrupted.is_set()

    def due(self, step: int) -> bool:
        return self.stopping() or monotonic() - self.kept > self.seconds

    def keep(self, tensors: Tensors) -> None:
        self.states.keep(self.client, tensors)
        self.kept = monotonic()
        if self.interrupted.is_set():
            raise KeyboardInterrupt
