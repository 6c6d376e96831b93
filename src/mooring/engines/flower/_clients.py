"""A client inside Flower's simulation: the same `run_client`, in a process of Ray's.

Clients are asked to save and stop through files, because a process of Ray's does not receive Ctrl-C.
"""

import os
import signal
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from ray import cloudpickle

from mooring.client import CPU, ClientJob, States, Tensors, run_client
from mooring.data import Site
from mooring.engines.flower.messages import Answer, reply, request_content
from mooring.errors import MooringError, UserCodeError
from mooring.events import ClientFailed, Event
from mooring.processes import Stopped, keep_freed_memory, lacks_memory, one_thread
from mooring.record import events_text
from mooring.types import Upload
from mooring.uploads import encode, encode_tensors

STOP = "stop"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has only the second, and it is as final there
STATE = {"format": 2}
NOTHING = Answer(words={"events": ""})  # of a client that was stopped before it began


@dataclass(frozen=True)
class StopFiles:
    """One file says that everybody stops, and one for each client that it has begun, and in which process.

    A client says that it begins before it looks whether it may; who asks looks after asking. So each client that
    trains is known to whoever asks.
    """

    folder: Path

    def ask(self) -> None:
        (self.folder / STOP).touch()

    @property
    def asked(self) -> bool:
        return (self.folder / STOP).exists()

    def begin(self, client: int) -> bool:
        """Say that this process begins with a client; may it?"""
        written = self.folder / f"{client}.writing"
        written.write_text(str(os.getpid()))
        written.replace(self.folder / f"{client}.begun")
        return not self.asked

    def begun(self) -> dict[int, int]:
        """The process of every client that has begun."""
        return {int(path.stem): int(path.read_text()) for path in self.folder.glob("*.begun")}

    def kill(self, answered: Collection[int]) -> None:
        """End the processes of those who have begun and not answered."""
        for client, process in self.begun().items():
            if client not in answered:
                with suppress(ProcessLookupError):
                    os.kill(process, KILL)


class LastState:
    """Keeps the newest state in memory: it travels with the one reply, at the client's end or when it is stopped."""

    def __init__(self, last: Tensors | None, files: StopFiles) -> None:
        self.first = last
        self.files = files
        self.kept: Tensors | None = None

    def last(self) -> Tensors | None:
        return self.first

    def stopping(self) -> bool:
        return self.files.asked

    def due(self, step: int) -> bool:
        return self.stopping()

    def keep(self, tensors: Tensors) -> None:
        self.kept = tensors
        if self.files.asked:
            raise Stopped


@dataclass(frozen=True)
class Parcel:
    """All that the processes of a simulation share: it lies in a file, so that it is not sent with every message."""

    job: ClientJob
    sites: Mapping[int, Site]
    states: States

    def write(self, path: Path) -> None:
        path.write_bytes(cloudpickle.dumps(self))  # type: ignore[no-untyped-call,unused-ignore]


@cache
def read_parcel(path: Path) -> Parcel:
    parcel: Parcel = cloudpickle.loads(path.read_bytes())
    return parcel


def client_app(path: Path) -> ClientApp:
    app = ClientApp()

    def train(message: Message, context: Context) -> Message:
        one_thread()
        keep_freed_memory()
        client, files = int(str(request_content(message)["client"])), StopFiles(path.parent)
        return reply(train_client(read_parcel(path), client, files) if files.begin(client) else NOTHING, message)

    app.train()(train)
    return app


def train_client(parcel: Parcel, client: int, files: StopFiles) -> Answer:
    """A client from its start, or its last state, to its end, or to where it is stopped."""
    events: list[Event] = []
    keeper = LastState(parcel.states.last(client), files)
    uploads: dict[str, bytes] = {}
    words: dict[str, str] = {}
    try:
        for upload in uploaded(parcel, client, events, keeper):
            uploads[str(upload.round)] = encode(upload)
    except Stopped:
        pass  # its uploads so far and its state go home
    except UserCodeError as error:
        words = {"problem": error.problem, "remedy": error.remedy, "trace": error.trace}
    except MooringError as error:
        events.append(ClientFailed(client, error.problem, error.remedy))
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        events.append(ClientFailed(client, f"client {client}: out of memory", "lower engine.workers"))
    state = b"" if keeper.kept is None else encode_tensors(keeper.kept, STATE)
    return Answer(uploads, {**words, "events": events_text(event for event in events if event.kept)}, state)


def uploaded(parcel: Parcel, client: int, events: list[Event], keeper: LastState) -> Iterator[Upload]:
    return run_client(parcel.job, parcel.sites[client], events.append, keeper, CPU)
