"""A client inside Flower's simulation: the same `run_client`, in a process of Ray's."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from ray import cloudpickle

from mooring.client import CPU, ClientJob, States, run_client
from mooring.data import Site
from mooring.engines.flower._stopping import LastState, StopFiles
from mooring.engines.flower.messages import Answer, asked, reply
from mooring.errors import MooringError, UserCodeError
from mooring.events import ClientFailed, Event
from mooring.processes import Stopped, keep_freed_memory, lacks_memory, one_thread
from mooring.record import events_text
from mooring.types import Upload
from mooring.uploads import encode, encode_tensors

STATE = {"format": 2}
NOTHING = Answer(words={"events": ""})  # of a client that was stopped before it began


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
        client, files = int(str(asked(message)["client"])), StopFiles(path.parent)
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
