"""The server's side of Flower's simulation: a ServerApp that asks every node once and hands over the answers."""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread
from time import sleep

import ray
from flwr.app import Context, Message
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation

from mooring.client import ClientJob, States
from mooring.data import Site
from mooring.engines.flower._clients import Parcel, StopFiles, client_app
from mooring.engines.flower.messages import Answer, exchange, parse_answer, train_request
from mooring.errors import TrainingError, UserCodeError, one_line
from mooring.events import ClientFailed, Emit
from mooring.processes import remembered_interrupt
from mooring.record import events_in
from mooring.types import Upload
from mooring.uploads import decode, decode_tensors

GLANCE_SECONDS = 0.2  # between two looks at the keyboard
ENDING_SECONDS = 60.0  # that Flower and Ray are given to end
LONGEST = 200  # letters of what Ray says
CRASHED = "ClientAppException"  # an exception that our own code raised, against a process that died


def simulate(
    folder: Path, job: ClientJob, sites: Sequence[Site], emit: Emit, states: States, workers: int
) -> Iterator[Upload]:
    """The largest clients begin first; uploads are handed over as clients end."""
    parcel = folder / "parcel"
    Parcel(job, {site.number: site for site in sites}, states).write(parcel)
    clients = [site.number for site in sorted(sites, key=lambda site: -(site.size or 0))]
    running = Simulation(parcel, clients, workers)
    with environment_restored(), remembered_interrupt() as interrupted:
        running.start()
        try:
            for client, message in running.replies(interrupted):
                if message.has_error():
                    emit(died(client, str(message.error.reason)))
                    continue
                answer = parse_answer(message)
                handle_answer(answer, emit)
                for data in answer.uploads.values():
                    yield decode(data, job.limits)
                if answer.state:
                    states.keep(client, decode_tensors(answer.state, what="state")[1])
        finally:
            running.stop()
    if interrupted.is_set():
        raise KeyboardInterrupt  # and everything is safe


class Simulation:
    """Flower's simulation in a thread of its own, so that this one can hand over what has arrived."""

    def __init__(self, parcel: Path, clients: Sequence[int], workers: int) -> None:
        self.parcel = parcel
        self.clients = clients
        self.workers = workers
        self.files = StopFiles(parcel.parent)
        self.answered = set[int]()  # whose reply was handed over
        self.inbox: SimpleQueue[tuple[int, Message]] = SimpleQueue()
        self.stopping = Flag()
        self.error: BaseException | None = None
        self.thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def replies(self, interrupted: Flag) -> Iterator[tuple[int, Message]]:
        """Client and message, one for each client; after the first Ctrl-C, for each that had begun to train."""
        while not self.answered.issuperset(self.files.begun() if self.asked(interrupted) else self.clients):
            try:
                client, message = self.inbox.get(timeout=GLANCE_SECONDS)
            except Empty:
                if not self.thread.is_alive() and self.inbox.empty():
                    raise RuntimeError("Flower's simulation ended before its clients") from self.error
                continue
            yield client, message
            self.answered.add(client)

    def asked(self, interrupted: Flag) -> bool:
        """Does the keyboard say stop? Then clients are asked to save and answer, and nobody else begins."""
        if interrupted.is_set():
            self.files.ask()
        return interrupted.is_set()

    def stop(self) -> None:
        """Also in the middle: nobody waits for clients that have not answered, and their processes end at once.

        Flower ends Ray itself, once none of its own threads waits for a client any more: without Ray they would wait
        for ever, or begin it again.
        """
        self.stopping.set()
        if self.answered.issuperset(self.clients):
            self.thread.join(timeout=ENDING_SECONDS)
            return
        self.files.ask()
        with silenced():
            self.files.kill(self.answered)
            self.thread.join(timeout=ENDING_SECONDS)

    def _run(self) -> None:
        try:
            begin_ray(self.workers)
            if self.stopping.is_set():
                ray.shutdown()
                return
            run_simulation(
                server_app=self._server_app(),
                client_app=client_app(self.parcel),
                num_supernodes=len(self.clients),
                backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
            )
        except BaseException as error:  # raised by the code that waits for the replies
            self.error = error

    def _server_app(self) -> ServerApp:
        app = ServerApp()

        def main(grid: Grid, context: Context) -> None:
            while len(nodes := sorted(grid.get_node_ids())) < len(self.clients):
                sleep(0.05)  # they are still registering
            client_of = dict(zip(nodes, self.clients, strict=True))
            questions = (train_request(node, {"client": client}) for node, client in client_of.items())
            for message in exchange(grid, questions, self.stopping.is_set):
                self.inbox.put((client_of[message.metadata.src_node_id], message))

        app.main()(main)
        return app


def begin_ray(workers: int) -> None:
    """On this machine, whichever cluster runs here or RAY_ADDRESS names: sites and states are here.

    Ray's processes find their modules by the environment: set in Ray's own way, each would be started twice.
    """
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    ray.init(
        address="local", num_cpus=workers, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False
    )


def handle_answer(answer: Answer, emit: Emit) -> None:
    """What happened at a client; a mistake in the user's own code stops the run, because every client would meet it."""
    for timed in events_in(answer.words["events"], "events of a client"):
        emit(timed.event)
    if "problem" in answer.words:
        raise UserCodeError(answer.words["problem"], answer.words["remedy"], answer.words["trace"])


def died(client: int, reason: str) -> ClientFailed:
    """A process of Ray that died; an exception of our own code is a bug and keeps its words."""
    if CRASHED in reason:
        raise RuntimeError(f"in a client of Flower's simulation: {reason}")
    error = TrainingError(
        f"client {client}: its process died in Flower's simulation ({one_line(reason)[:LONGEST]})",
        "lower engine.workers, and look into the system's log for a lack of memory",
    )
    return ClientFailed(client, error.problem, error.remedy)


@contextmanager
def environment_restored() -> Iterator[None]:
    """The search path is written into the environment, for Ray's processes."""
    before = os.environ.get("PYTHONPATH")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONPATH", None)
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def silenced() -> Iterator[None]:
    """What is ended early would be reported as an error, by Flower's log and by a thread of Ray's that prints."""
    logger = logging.getLogger("flwr")
    before = logger.disabled
    logger.disabled = True
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        logger.disabled = before
