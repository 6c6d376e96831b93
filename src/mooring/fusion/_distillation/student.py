"""A teacher (the ensemble of the clients' networks), a student, and the lessons it is given."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mooring.events import ServerProgress
from mooring.fusion._base import Server
from mooring.fusion._ensemble import Ensemble, Members
from mooring.fusion._merged import Merged, averaged, samples_of, states_of
from mooring.models import Network
from mooring.processes import threads
from mooring.schedules import cosine
from mooring.schema import Checked, Count, Doc, Positive
from mooring.seeds import generator
from mooring.types import Upload, View

CONTRAST = 2.5  # images are shown with their contrast raised up to this
BATCH = 512


class LogitEnsemble(Ensemble):
    """t(x) = sum_k w_k logits_k(x)"""

    kind: ClassVar[str] = "logit-ensemble"
    holds: ClassVar[tuple[str, ...]] = ("weights",)
    sides: ClassVar[tuple[int, ...]] = (1,)
    weights: Tensor  # (K,), sums to 1

    @classmethod
    def even(cls, members: Members) -> "LogitEnsemble":
        """w_k = 1/K"""
        return cls(members, weights=torch.full((len(members.clients),), 1 / len(members.clients)))

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        return self.weighed(network.view(f).logits for network, f in zip(self.networks(), embeddings, strict=True))

    def apart(self, images: Tensor) -> Tensor:
        """Every client's own logits, (K, B, C): what stays when weights change."""
        return torch.stack([network(images).logits for network in self.networks()])

    def weighed(self, logits: Iterable[Tensor]) -> Tensor:
        """sum_k w_k logits_k, (B, C)"""
        scores = torch.zeros(())
        for weight, own in zip(self.weights, logits, strict=True):
            scores = scores + weight * own
        return scores


@dataclass(frozen=True)
class StudentTraining(Checked):
    """loss = mean KL( softmax(s t(x)) || softmax(logits(x)) ), t the teacher's scores

    s = sharpness / (mean distance of t's two best scores): cosines, logits and log-probabilities of any size give
    equally sharp targets. Adam; the learning rate falls to zero as a cosine.
    """

    steps: Annotated[Count, Doc("steps of the student's training")] = 600
    batch: Annotated[Count, Doc("images in each step")] = 64
    lr: Annotated[Positive, Doc("learning rate of Adam, with a cosine schedule")] = 6e-3
    sharpness: Annotated[Positive, Doc("mean margin of the teacher's scaled scores")] = 1.5

    def scale(self, scores: Tensor) -> Tensor:
        """s, ()"""
        best = scores.sort(1, descending=True).values[:, :2]
        return self.sharpness / (best[:, 0] - best[:, -1]).mean().clamp(min=torch.finfo(scores.dtype).tiny)


class Student:
    """A network that learns, one batch after the other."""

    def __init__(self, network: Network, study: StudentTraining) -> None:
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


def first_student(uploads: Sequence[Upload], server: Server) -> Network:
    """Where a student starts: at the average of the clients' networks, or where no network was uploaded, anew."""
    blueprint = server.blueprint
    network = blueprint.build(generator(server.seed, "student"))
    if network.state_dict().keys() <= uploads[0].tensors.keys():
        network.load_state_dict(averaged(zip(states_of(uploads, blueprint), samples_of(uploads), strict=True)))
    return network


Imagined = Callable[[LogitEnsemble, Network, Generator], Tensor]  # teacher, student -> images


def distil_ensemble(
    kind: str, imagined: Imagined, lessons: int, study: StudentTraining, uploads: Sequence[Upload], server: Server
) -> tuple[Merged, LogitEnsemble]:
    """Student and teacher after all lessons; `imagined` makes the new images of each, (N, C, H, W)."""
    student, teacher = trained_pair(kind, imagined, lessons, study, uploads, server)
    return Merged(student.network.cpu().state_dict(), server.blueprint), teacher.cpu()


def trained_pair(
    kind: str, imagined: Imagined, lessons: int, study: StudentTraining, uploads: Sequence[Upload], server: Server
) -> tuple[Student, LogitEnsemble]:
    """The same, still on the device of the server.

    On one thread: how a machine divides a sum among its cores must not change what is learned.
    """
    with threads(1):
        rng = generator(server.seed, kind)
        teacher = LogitEnsemble.even(Members.of(uploads, server.blueprint)).to(server.device)
        student = Student(first_student(uploads, server).to(server.device), study)
        teach(student, teacher, lambda: imagined(teacher, student.network, rng), lessons, server, rng)
    return student, teacher


def teach(
    student: Student,
    teacher: LogitEnsemble,
    imagined: Callable[[], Tensor],
    lessons: int,
    server: Server,
    rng: Generator,
) -> None:
    """All lessons of a student; `imagined` makes the new images of one, (N, C, H, W)."""
    study, device = student.study, server.device
    shelf = torch.empty(0, *server.blueprint.shape, device=device)
    opinions = torch.empty(len(teacher.clients), 0, server.blueprint.class_count, device=device)
    for lesson in range(lessons):
        images = imagined()
        with torch.no_grad():
            new = torch.cat([teacher.apart(batch) for batch in images.split(BATCH)], 1)
        shelf, opinions = torch.cat([shelf, images]), torch.cat([opinions, new], 1)
        scores = teacher.weighed(opinions)
        scores = study.scale(scores) * scores
        for _ in range(steps_in(lesson, lessons, study.steps)):
            chosen = torch.randint(len(shelf), (study.batch,), generator=rng).to(device)
            student.learn(shelf[chosen], scores[chosen])
        server.emit(ServerProgress("lessons", lesson + 1, lessons))


def contrasted(images: Tensor, rng: Generator) -> Tensor:
    """m + c (x - m), m the mean of an image, c drawn between 1 and CONTRAST."""
    c = 1 + (CONTRAST - 1) * torch.rand(len(images), 1, 1, 1, generator=rng).to(images.device)
    m = images.mean((1, 2, 3), keepdim=True)
    return (m + c * (images - m)).clamp(0, 1)


def steps_in(lesson: int, lessons: int, steps: int) -> int:
    """Steps of one lesson; all lessons together have exactly `steps`."""
    return (lesson + 1) * steps // lessons - lesson * steps // lessons
