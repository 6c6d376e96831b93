"""What the server trains on public images, by the one training loop, and sends to every client before it trains.

Either the encoder itself, or a bank of features of public images that a teacher network computes (note 1).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.client._device import CPU, Device
from mooring.client._job import ClientJob, Training
from mooring.client._loop import run_client
from mooring.client._recipe import ClientRecipe, Views
from mooring.data import Augment, ImageSet, InMemorySite, in_memory
from mooring.errors import DataError
from mooring.events import ClientProgress, Emit, Event, Remark, ServerProgress
from mooring.losses import FAFI, CrossEntropy
from mooring.models import Blueprint, Linear, Network, PublicEncoder, RawPrototypes
from mooring.schema import ADDED_LATER, Checked, Count, Doc, NonNegativeInt
from mooring.seeds import generator
from mooring.types import FeatureBank
from mooring.uploads import Encoder, Parts, Prototypes, network_of_upload

TEACHER = -1  # its number among the clients: nobody's
BATCH = 512
NO_AUGMENT = Augment(crop=1.0, flip=0.0, jitter=0.0, grey=0.0)
TEACHERS = {
    "fafi": ClientRecipe(FAFI),
    "cross-entropy": ClientRecipe((CrossEntropy(),), views=Views(1, NO_AUGMENT)),
}
MILD = Augment(crop=0.6, jitter=0.0, grey=0.0)
RECIPE = ClientRecipe((CrossEntropy(),), head=Linear(), views=Views(1, MILD))
TRAINING = Training(batch_size=64, lr=0.1, weight_decay=5e-4, lr_schedule="cosine")


def taught(
    recipe: ClientRecipe,
    training: Training,
    blueprint: Blueprint,
    public: ImageSet,
    job: ClientJob,
    emit: Emit,
    device: Device,
) -> Network:
    """A network of this blueprint after one round on the public images, by the seed of the job."""
    needs: Parts = frozenset({Encoder(), Prototypes()})
    training = replace(training, rounds=1, snapshots="last")
    lesson = replace(job, blueprint=blueprint, recipe=recipe, training=training, needs=needs, bank=None)
    (upload,) = run_client(lesson, InMemorySite(TEACHER, public, "server"), only_progress(emit), device=device)
    return network_of_upload(upload, blueprint)


def only_progress(emit: Emit) -> Callable[[Event], None]:
    """Passes on only the progress of a teacher, because a teacher is not a client."""

    def report(event: Event) -> None:
        if isinstance(event, ClientProgress):
            emit(ServerProgress("teacher", event.step, event.steps))

    return report


@dataclass(frozen=True)
class Bank(Checked):
    """`size` unit features of public images, made by a teacher that the server trained on them.

    A bank larger than the public set holds all of it. A teacher of zero epochs is the common starting network. It
    minimises FAFI's loss over two augmented views, as clients do; `cross-entropy` is the published teacher: cross
    entropy alone, on the images as they are.
    """

    size: Annotated[Count, Doc("most features in the bank")] = 4096
    teacher_epochs: Annotated[NonNegativeInt, Doc("epochs of the teacher; 0: the initial network")] = 20
    labelled: Annotated[bool, Doc("whether the features have labels")] = False
    teacher: Annotated[
        Literal["fafi", "cross-entropy"],
        Doc("the teacher's loss: FAFI's, or plain `cross-entropy` (as published)"),
    ] = field(default="fafi", metadata={ADDED_LATER: True})


def build_bank(bank: Bank, public: ImageSet, job: ClientJob, emit: Emit, device: Device = CPU) -> FeatureBank:
    """Train the teacher, encode the public images, keep a seeded choice of them."""
    if bank.labelled and len(public.classes) != job.blueprint.class_count:
        raise DataError(
            f"the public images have {len(public.classes)} classes, the clients {job.blueprint.class_count}: "
            "their labels mean nothing to each other",
            "use bank.labelled=false or public images of the same classes",
        )
    teacher = train_teacher(bank, public, job, emit, device)
    with torch.no_grad():
        features = torch.cat([F.normalize(teacher.embed(batch)) for batch in in_memory(public.images).split(BATCH)])
    chosen = torch.randperm(len(features), generator=generator(job.seed, "bank"))[: bank.size].sort().values
    labels = public.labels[chosen].clone() if bank.labelled else None
    if bank.size > len(public):
        text = f"bank.size={bank.size} is more than the {len(public)} public images: the bank holds all of them"
        emit(Remark(text))
    return FeatureBank(features[chosen], labels)


def random_bank(bank: Bank, public: ImageSet, job: ClientJob) -> FeatureBank:
    """A bank of the right size with random features: for timing, before there is a teacher."""
    rng = generator(job.seed, "stand-in")
    size = min(bank.size, len(public))
    dimension = job.blueprint.build(rng).prototypes.shape[1]
    features = F.normalize(torch.randn(size, dimension, generator=rng))
    return FeatureBank(features, public.labels[:size] if bank.labelled else None)


def train_teacher(bank: Bank, public: ImageSet, job: ClientJob, emit: Emit, device: Device) -> Network:
    """The one training loop once more, on the public images."""
    blueprint = replace(job.blueprint, head=RawPrototypes(), classes=public.classes)
    if bank.teacher_epochs == 0:
        return blueprint.build(generator(job.seed, "network")).eval()
    training = replace(job.training, local_epochs=bank.teacher_epochs)
    return taught(TEACHERS[bank.teacher], training, blueprint, public, job, emit, device)


def train_encoder(
    features: PublicEncoder, public: ImageSet, job: ClientJob, emit: Emit, device: Device = CPU
) -> dict[str, Tensor]:
    """The state of the backbone, by the names of a client's upload; its classifier stays at the server."""
    blueprint = replace(job.blueprint, head=Linear(), classes=public.classes)
    network = taught(RECIPE, replace(TRAINING, local_epochs=features.epochs), blueprint, public, job, emit, device)
    return {f"encoder.{name}": tensor.contiguous() for name, tensor in network.encoder.state_dict().items()}
