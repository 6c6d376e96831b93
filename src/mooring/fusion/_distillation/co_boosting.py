"""Co-Boosting: images and ensemble make each other better."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from torch import Generator, Tensor

from mooring.fusion._distillation.dense import ImaginedImages
from mooring.fusion._distillation.student import LogitEnsemble, StudentTraining, contrasted
from mooring.fusion._distillation.synthesis import Synthesis, hard_cross_entropy
from mooring.models import Network
from mooring.schema import Count, Doc, Positive

AGREED = 1e-3  # a gradient below this is rounding: teacher and student agree, and there is nowhere to go


@dataclass(frozen=True)
class CoBoosting(ImaginedImages):
    """DENSE whose images and ensemble improve each other, t(x) = sum_k w_k logits_k(x) (Dai et al. 2024).

    hard:     (1 - p_y) CE(t(x), y) while images are imagined
    moved:    x + perturbation * g / max|g|, g = grad_x KL(t(x) || s(x))
    ensemble: w <- normalise(w - reweighting/K (g - mean(g))), g = sign(grad_w (1 - p_y) CE(t(x), y)), in every lesson

    Deviations: those of `Dense`; images move to where student and ensemble differ, not along a random direction of the
    ensemble's output, and along the gradient, not along its sign, so that rounding cannot decide where they go; weights
    move relative to each other and never below zero.
    """

    kind: ClassVar[str] = "co-boosting"
    about: ClassVar[str] = "as dense, on images made harder, and with the clients' weights in the average learned too"
    reference: ClassVar[str] = "Co-Boosting: Dai et al., ICLR 2024"
    lessons: Annotated[Count, Doc("number of lessons, each with a new generator")] = 30
    synthesis: Annotated[Synthesis, Doc("how a generator makes images")] = field(
        default_factory=lambda: Synthesis(hardness=1.0)
    )
    perturbation: Annotated[Positive, Doc("largest change of a pixel (8/255)")] = 8 / 255
    reweighting: Annotated[Positive, Doc("step size of the ensemble's weights")] = 0.05
    study: Annotated[StudentTraining, Doc("training of the student")] = field(
        default_factory=lambda: StudentTraining(steps=1200, lr=3e-3, sharpness=2.0)
    )

    def imagined(self, teacher: LogitEnsemble, student: Network, rng: Generator) -> Tensor:
        """The new images of one lesson, after the teacher's weights have followed them."""
        labels = torch.randint(teacher.blueprint.class_count, (self.synthesis.batch,), generator=rng)
        labels = labels.to(teacher.weights.device)
        images = self.synthesis(teacher, student, labels, rng)
        teacher.weights.copy_(self.reweighted(teacher, images[-len(labels) :], labels))
        return self.moved(contrasted(images, rng), teacher, student)

    def moved(self, images: Tensor, teacher: LogitEnsemble, student: Network) -> Tensor:
        """No pixel moves further than `perturbation`."""
        student.eval()
        x = images.clone().requires_grad_()
        t, s = teacher(x).log_softmax(1), student(x).logits.log_softmax(1)
        [g] = torch.autograd.grad((t.exp() * (t - s)).sum(), x)
        largest = g.abs().amax((1, 2, 3), keepdim=True).clamp(min=AGREED)
        return (images + self.perturbation * g / largest).clamp(0, 1)

    def reweighted(self, teacher: LogitEnsemble, images: Tensor, labels: Tensor) -> Tensor:
        """w after one step, (K,)"""
        with torch.no_grad():
            logits = teacher.apart(images)
        w = teacher.weights.clone().requires_grad_()
        loss = hard_cross_entropy(torch.einsum("k,kbc->bc", w, logits), labels, self.synthesis.hardness)
        [gradient] = torch.autograd.grad(loss, w)
        g = gradient.sign()
        moved = (teacher.weights - self.reweighting / len(w) * (g - g.mean())).clamp(min=0)
        return moved / moved.sum()
