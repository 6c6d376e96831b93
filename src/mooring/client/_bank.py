"""The public feature bank: a teacher's features of public images, sent to every client before it trains (note 1)."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import torch
import torch.nn.functional as F

from mooring.client._job import ClientJob
from mooring.client._recipe import ClientRecipe, Views
from mooring.client._teacher import taught
from mooring.data import Augment, ImageSet
from mooring.errors import DataError
from mooring.events import Emit, Remark
from mooring.losses import FAFI, CrossEntropy
from mooring.models import Network, RawPrototypes
from mooring.schema import LATER, Checked, Count, Doc, NonNegativeInt
from mooring.seeds import generator
from mooring.types import FeatureBank

BATCH = 512


@dataclass(frozen=True)
class Bank(Checked):
    """`size` unit features of public images, made by a teacher that the server trained on them.

    A bank larger than the public set holds all of it. A teacher of zero epochs is the common starting network. It
    minimises FAFI's loss over two augmented views, as clients do; `cross-entropy` is the published teacher: cross
    entropy alone, on the images as they are.
    """

    size: Annotated[Count, Doc("features in the bank; all public images if there are fewer")] = 4096
    teacher_epochs: Annotated[NonNegativeInt, Doc("how long the teacher trains; 0 is the common starting network")] = 20
    labelled: Annotated[bool, Doc("do the features carry their classes?")] = False
    teacher: Annotated[
        Literal["fafi", "cross-entropy"],
        Doc(
            "what the teacher minimises: FAFI's loss over two augmented views, or, as published, "
            "`cross-entropy` on the images as they are"
        ),
    ] = field(default="fafi", metadata={LATER: True})


NO_AUGMENT = Augment(crop=1.0, flip=0.0, jitter=0.0, grey=0.0)
TEACHERS = {
    "fafi": ClientRecipe(FAFI),
    "cross-entropy": ClientRecipe((CrossEntropy(),), views=Views(1, NO_AUGMENT)),
}


def build_bank(bank: Bank, public: ImageSet, job: ClientJob, emit: Emit) -> FeatureBank:
    """Train the teacher, encode the public images, keep a seeded choice of them."""
    if bank.labelled and len(public.classes) != job.blueprint.class_count:
        raise DataError(
            f"the public images have {len(public.classes)} classes, the clients {job.blueprint.class_count}: "
            "their labels mean nothing to each other",
            "use bank.labelled=false or public images of the same classes",
        )
    teacher = train_teacher(bank, public, job, emit)
    with torch.no_grad():
        features = torch.cat([F.normalize(teacher.embed(batch)) for batch in public.images.split(BATCH)])
    chosen = torch.randperm(len(features), generator=generator(job.seed, "bank"))[: bank.size].sort().values
    labels = public.labels[chosen].clone() if bank.labelled else None
    if bank.size > len(public):
        text = f"bank.size={bank.size} is more than the {len(public)} public images: the bank holds all of them"
        emit(Remark(text))
    return FeatureBank(features[chosen], labels)


def stand_in(bank: Bank, public: ImageSet, job: ClientJob) -> FeatureBank:
    """A bank of the right size with random features: for timing, before there is a teacher."""
    rng = generator(job.seed, "stand-in")
    size = min(bank.size, len(public))
    dimension = job.blueprint.build(rng).prototypes.shape[1]
    features = F.normalize(torch.randn(size, dimension, generator=rng))
    return FeatureBank(features, public.labels[:size] if bank.labelled else None)


def train_teacher(bank: Bank, public: ImageSet, job: ClientJob, emit: Emit) -> Network:
    """The one training loop once more, on the public images."""
    blueprint = replace(job.blueprint, head=RawPrototypes(), classes=public.classes)
    if bank.teacher_epochs == 0:
        return blueprint.build(generator(job.seed, "network")).eval()
    training = replace(job.training, local_epochs=bank.teacher_epochs)
    return taught(TEACHERS[bank.teacher], training, blueprint, public, job, emit)
