"""What the server learns from public images, by the one training loop: its network is sent, or its features are."""

from collections.abc import Callable
from dataclasses import replace

from mooring.client._job import ClientJob, Training
from mooring.client._loop import run_client
from mooring.client._recipe import ClientRecipe
from mooring.data import ImageSet, InMemorySite
from mooring.events import ClientProgress, Emit, Event, ServerProgress
from mooring.models import Blueprint, Network
from mooring.uploads import Encoder, Parts, Prototypes, rebuild

TEACHER = -1  # its number among the clients: nobody's


def taught(
    recipe: ClientRecipe, training: Training, blueprint: Blueprint, public: ImageSet, job: ClientJob, emit: Emit
) -> Network:
    """A network of this blueprint after one round on the public images, by the seed of the job."""
    needs: Parts = frozenset({Encoder(), Prototypes()})
    training = replace(training, rounds=1, snapshots="last")
    lesson = replace(job, blueprint=blueprint, recipe=recipe, training=training, needs=needs, bank=None)
    (upload,) = run_client(lesson, InMemorySite(TEACHER, public, "server"), only_progress(emit))
    return rebuild(upload, blueprint)


def only_progress(emit: Emit) -> Callable[[Event], None]:
    """A teacher is no client: of what it reports, only its progress is passed on."""

    def report(event: Event) -> None:
        if isinstance(event, ClientProgress):
            emit(ServerProgress("teacher", event.step, event.steps))

    return report
