"""How a student learns."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.bounds import Checked
from mooring.fusion.base import Server
from mooring.fusion.merged import averaged, samples_of, states_of
from mooring.models.network import Network
from mooring.schedules import cosine
from mooring.seeds import generator
from mooring.types import Count, Positive, Upload, View


@dataclass(frozen=True)
class Study(Checked):
    """loss = mean KL( softmax(s t(x)) || softmax(logits(x)) ), t the teacher's scores

    s = sharpness / (mean distance of t's two best scores), so that cosines, logits and log-probabilities of any size
    make the same lesson. Adam; the learning rate falls to zero as a cosine.
    """

    steps: Count = 600
    batch: Count = 64
    lr: Positive = 6e-3
    sharpness: Positive = 1.5

    def scale(self, scores: Tensor) -> Tensor:
        """s, ()"""
        best = scores.sort(1, descending=True).values[:, :2]
        return self.sharpness / (best[:, 0] - best[:, -1]).mean().clamp(min=torch.finfo(scores.dtype).tiny)


class Student:
    """A network that learns, one batch after the other."""

    def __init__(self, network: Network, study: Study) -> None:
        self.network = network
        self.study = study
        self.optimizer = torch.optim.Adam([p for p in network.parameters() if p.requires_grad], study.lr)
        self.step = 0

    def learn(self, images: Tensor, scores: Tensor) -> None:
        """One step towards softmax(scores), (B, C)."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.study.lr * cosine(self.step / self.study.steps)
        view: View = self.network.train()(images)
        loss = F.kl_div(view.logits.log_softmax(1), scores.log_softmax(1), reduction="batchmean", log_target=True)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.step += 1


@contextmanager
def one_thread() -> Iterator[None]:
    """How a machine divides a sum among its cores must not change what is learned."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def first_student(uploads: Sequence[Upload], server: Server) -> Network:
    """Where a student starts: at the average of the clients' networks, or where no network was uploaded, anew."""
    blueprint = server.blueprint
    network = blueprint.build(generator(server.seed, "student"))
    if network.state_dict().keys() <= uploads[0].tensors.keys():
        network.load_state_dict(averaged(states_of(uploads, blueprint), samples_of(uploads)))
    return network
