"""A client inside Flower's simulation: the same `run_client`, in a process of Ray's."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from ray import cloudpickle

from mooring.client import ClientJob, run_client
from mooring.client.checkpoint import States, Tensors
from mooring.client.device import CPU
from mooring.data.sites import Site
from mooring.engines.flower.messages import Answer, asked, reply
from mooring.errors import MooringError, UserCodeError
from mooring.events import ClientFailed, Event
from mooring.processes import keep_freed_memory, lacks_memory, one_thread
from mooring.record import events_text
from mooring.types import Upload
from mooring.uploads.codec import encode, encode_tensors

STATE = {"format": 2}


@dataclass(frozen=True)
class Parcel:
    """All that the processes of a simulation share: it lies in a file, so that it is not sent with every message."""

    job: ClientJob
    sites: Mapping[int, Site]
    states: States

    def write(self, path: Path) -> None:
        path.write_bytes(cloudpickle.dumps(self))  # type: ignore[no-untyped-call,unused-ignore]


@cache
def opened(path: Path) -> Parcel:
    parcel: Parcel = cloudpickle.loads(path.read_bytes())
    return parcel


def client_app(path: Path) -> ClientApp:
    app = ClientApp()

    def train(message: Message, context: Context) -> Message:
        one_thread()
        keep_freed_memory()
        return reply(trained(opened(path), int(str(asked(message)["client"]))), message)

    app.train()(train)
    return app


def trained(parcel: Parcel, client: int) -> Answer:
    """A client from its start, or its last state, to its end."""
    events: list[Event] = []
    keeper = LastState(parcel.states.last(client))
    uploads: dict[str, bytes] = {}
    words: dict[str, str] = {}
    try:
        for upload in uploaded(parcel, client, events, keeper):
            uploads[str(upload.round)] = encode(upload)
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


def uploaded(parcel: Parcel, client: int, events: list[Event], keeper: "LastState") -> Iterator[Upload]:
    return run_client(parcel.job, parcel.sites[client], events.append, keeper, CPU)


class LastState:
    """Keeps the newest state in memory: it travels with the one reply."""

    def __init__(self, last: Tensors | None) -> None:
        self.first = last
        self.kept: Tensors | None = None

    def last(self) -> Tensors | None:
        return self.first

    def due(self, step: int) -> bool:
        return False

    def keep(self, tensors: Tensors) -> None:
        self.kept = tensors
