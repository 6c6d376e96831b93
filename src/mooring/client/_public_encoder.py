"""The encoder that a server trains on public images and sends to everybody: V6's public tenth, put to another use."""

from dataclasses import replace

from torch import Tensor

from mooring.client._job import ClientJob, Training
from mooring.client._recipe import ClientRecipe, Views
from mooring.client._teacher import taught
from mooring.data import Augment, ImageSet
from mooring.events import Emit
from mooring.losses import CrossEntropy
from mooring.models import Linear, PublicEncoder

MILD = Augment(crop=0.6, jitter=0.0, grey=0.0)
RECIPE = ClientRecipe((CrossEntropy(),), head=Linear(), views=Views(1, MILD))
TRAINING = Training(batch_size=64, lr=0.1, weight_decay=5e-4, lr_schedule="cosine")


def train_encoder(features: PublicEncoder, public: ImageSet, job: ClientJob, emit: Emit) -> dict[str, Tensor]:
    """The state of the backbone, by the names of a client's upload; its classifier stays at the server."""
    blueprint = replace(job.blueprint, head=Linear(), classes=public.classes)
    network = taught(RECIPE, replace(TRAINING, local_epochs=features.epochs), blueprint, public, job, emit)
    return {f"encoder.{name}": tensor.contiguous() for name, tensor in network.encoder.state_dict().items()}
