"""DENSE: a generator imagines what the clients know, and a student learns it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Generator, Tensor

from mooring.fusion.base import Fusion, received
from mooring.fusion.distillation.image_generator import ImageGenerator
from mooring.fusion.distillation.logit_ensemble import LogitEnsemble
from mooring.fusion.distillation.losses import boundary_divergence, hard_cross_entropy, mean_gap, statistics_gaps
from mooring.fusion.distillation.study import Student, Study, first_student, one_thread
from mooring.fusion.merged import Merged
from mooring.fusion.server import Server
from mooring.models.network import Network
from mooring.seeds import generator
from mooring.types import Count, Event, NonNegative, Payload, Positive
from mooring.uploads import Encoder, Parts, Prototypes

LATENT, WIDTH = 64, 16
EVERY = 5  # generator steps between two batches that are kept for the student
AGREED = 1e-3  # a gradient below this is rounding: teacher and student agree, and there is nowhere to go
CONTRAST = 2.5  # images are shown with their contrast raised up to this


@dataclass(frozen=True)
class Dense(Fusion):
    """Data-free distillation of the mean of the clients' logits, t(x) = sum_k w_k logits_k(x) (Zhang et al. 2022).

    generator: CE(t(x), y) + statistics * BN(x) - divergence * [argmax t != argmax s] KL(t(x) || s(x)),  x = G(noise)
    student:   KL(t(x) || s(x)) on all images imagined so far

    BN compares what every batch norm of every client sees with what it remembers of real images. Deviations: a new
    generator in every lesson and images of its whole course, with raised contrast; targets are made equally sharp for
    any scale of logits; the student starts at the clients' average. Without these it agrees far less with its teacher
    on real images.
    """

    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    kind: ClassVar[str] = "dense"
    lessons: Count = 10
    generator_steps: Count = 30  # in each lesson
    generator_batch: Count = 64
    generator_lr: Positive = 1e-2
    statistics: NonNegative = 0.1
    divergence: NonNegative = 3.0
    hardness: NonNegative = 0.0  # above 0: images the ensemble finds hard weigh more
    perturbation: NonNegative = 0.0  # above 0: images are moved to where teacher and student differ most
    reweighting: NonNegative = 0.0  # above 0: the ensemble's weights follow the images
    study: Study = field(default_factory=lambda: Study(steps=800, sharpness=2.0))

    def __call__(self, payloads: Sequence[Payload], server: Server) -> Merged:
        return self.taught(payloads, server)[0]

    def teacher(self, payloads: Sequence[Payload], server: Server) -> LogitEnsemble:
        """The ensemble that the student has learned from in the end."""
        return self.taught(payloads, server)[1]

    def taught(self, payloads: Sequence[Payload], server: Server) -> tuple[Merged, LogitEnsemble]:
        uploads = received(payloads, self.needs, server.blueprint)
        with one_thread():
            rng = generator(server.seed, self.kind)
            teacher = LogitEnsemble(uploads, server.blueprint)
            student = Student(first_student(uploads, server), self.study)
            shelf = torch.empty(0, *server.blueprint.shape)
            for lesson in range(self.lessons):
                labels = torch.randint(server.blueprint.classes, (self.generator_batch,), generator=rng)
                images = self.imagined(teacher, student.network, labels, rng)
                self.reweigh(teacher, images[-len(labels) :], labels)
                shelf = torch.cat([shelf, self.moved(contrasted(images, rng), teacher, student.network)])
                with torch.no_grad():
                    scores = torch.cat([teacher(batch) for batch in shelf.split(512)])
                scores = self.study.scale(scores) * scores
                for _ in range(steps_in(lesson, self.lessons, self.study.steps)):
                    chosen = torch.randint(len(shelf), (self.study.batch,), generator=rng)
                    student.learn(shelf[chosen], scores[chosen])
                server.emit(Event("server", {"what": self.kind, "step": lesson + 1, "steps": self.lessons}))
        return Merged(student.network.state_dict(), server.blueprint), teacher

    def imagined(self, teacher: LogitEnsemble, student: Network, labels: Tensor, rng: Generator) -> Tensor:
        """A new generator learns to please the ensemble; images of its course, the last batch last."""
        shape = teacher.networks()[0].blueprint.shape
        imagine = ImageGenerator(LATENT, WIDTH, shape, rng)
        z = torch.randn(len(labels), LATENT, generator=rng).requires_grad_()
        optimizer = torch.optim.Adam([*imagine.parameters(), z], self.generator_lr, betas=(0.5, 0.999))
        student.eval().requires_grad_(False)
        kept = []
        for step in range(self.generator_steps):
            with statistics_gaps(teacher) as gaps:
                images = imagine(z)
                scores = teacher(images)
            loss = hard_cross_entropy(scores, labels, self.hardness) + self.statistics * mean_gap(gaps)
            loss = loss - self.divergence * boundary_divergence(scores, student(images).logits)
            if step % EVERY == 0 or step == self.generator_steps - 1:
                kept.append(images.detach())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        student.requires_grad_(True)
        return torch.cat(kept)

    def moved(self, images: Tensor, teacher: LogitEnsemble, student: Network) -> Tensor:
        """x + perturbation * g / max|g|, g = grad_x KL(t(x) || s(x)): no pixel moves further than `perturbation`"""
        if not self.perturbation:
            return images
        student.eval()
        x = images.clone().requires_grad_()
        t, s = teacher(x).log_softmax(1), student(x).logits.log_softmax(1)
        [g] = torch.autograd.grad((t.exp() * (t - s)).sum(), x)
        largest = g.abs().amax((1, 2, 3), keepdim=True).clamp(min=AGREED)
        return (images + self.perturbation * g / largest).clamp(0, 1)

    def reweigh(self, teacher: LogitEnsemble, images: Tensor, labels: Tensor) -> None:
        """w <- normalise(w - reweighting/K (g - mean(g))), g = sign(grad_w CE(t(x), y)), never below zero"""
        if not self.reweighting:
            return
        with torch.no_grad():
            logits = torch.stack([network(images).logits for network in teacher.networks()])  # (K, B, C)
        w = teacher.weights.clone().requires_grad_()
        loss = hard_cross_entropy(torch.einsum("k,kbc->bc", w, logits), labels, self.hardness)
        [gradient] = torch.autograd.grad(loss, w)
        g = gradient.sign()
        moved = (teacher.weights - self.reweighting / len(w) * (g - g.mean())).clamp(min=0)
        teacher.weights.copy_(moved / moved.sum())


@dataclass(frozen=True)
class CoBoosting(Dense):
    """DENSE whose images and ensemble improve each other (Dai et al. 2024).

    Images that the ensemble finds hard weigh more, (1 - p_y) CE; they are moved to where student and ensemble differ;
    the ensemble's weights take a signed gradient step on them in every lesson. Deviations: those of DENSE here; images
    move along the gradient, not along its sign, so that rounding cannot decide where they go.
    """

    kind: ClassVar[str] = "co-boosting"
    hardness: NonNegative = 1.0
    perturbation: NonNegative = 8 / 255
    reweighting: NonNegative = 0.05


def contrasted(images: Tensor, rng: Generator) -> Tensor:
    """m + c (x - m), m the mean of an image, c drawn between 1 and CONTRAST."""
    c = 1 + (CONTRAST - 1) * torch.rand(len(images), 1, 1, 1, generator=rng)
    m = images.mean((1, 2, 3), keepdim=True)
    return (m + c * (images - m)).clamp(0, 1)


def steps_in(lesson: int, lessons: int, steps: int) -> int:
    """Steps of one lesson; all lessons together have exactly `steps`."""
    return (lesson + 1) * steps // lessons - lesson * steps // lessons
