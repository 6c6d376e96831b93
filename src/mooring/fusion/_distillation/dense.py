"""DENSE: a generator imagines what the clients know, and a student learns it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from torch import Generator, Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._distillation.student import LogitEnsemble, StudentTraining, contrasted, distil_ensemble
from mooring.fusion._distillation.synthesis import Synthesis
from mooring.fusion._merged import Merged
from mooring.models import Network
from mooring.schema import Count, Doc
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


class ImaginedImages(Fusion):
    """One network by distillation of the clients' networks, on images that a generator makes."""

    group: ClassVar[FusionGroup] = "one network by training at the server"
    cost: ClassVar[ServerCost] = "minutes, it trains"
    makes: ClassVar[Made] = (Merged,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    lessons: int
    study: StudentTraining

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        return self.taught(uploads, server)[0]

    def taught(self, uploads: Sequence[Upload], server: Server) -> tuple[Merged, LogitEnsemble]:
        """Student, and teacher as it is in the end."""
        return distil_ensemble(self.kind, self.imagined, self.lessons, self.study, uploads, server)

    def imagined(self, teacher: LogitEnsemble, student: Network, rng: Generator) -> Tensor:
        """The new images of one lesson."""
        raise NotImplementedError


@dataclass(frozen=True)
class Dense(ImaginedImages):
    """Data-free distillation of the mean of the clients' logits, t(x) = mean_k logits_k(x) (Zhang et al. 2022).

    generator: `Synthesis`
    student:   KL(t(x) || s(x)) on all images imagined so far

    Deviations: those of `Synthesis`; a new generator in every lesson; images with raised contrast; targets are made
    equally sharp for any scale of logits; the student starts at the clients' average. Without these it agrees far less
    with its teacher on real images.
    """

    kind: ClassVar[str] = "dense"
    about: ClassVar[str] = "a network trained to answer as the clients' average does, on images that a generator makes"
    reference: ClassVar[str] = "DENSE: Zhang et al., NeurIPS 2022"
    lessons: Annotated[Count, Doc("number of lessons, each with a new generator")] = 40
    synthesis: Annotated[Synthesis, Doc("how a generator makes images")] = field(default_factory=Synthesis)
    study: Annotated[StudentTraining, Doc("training of the student")] = field(
        default_factory=lambda: StudentTraining(steps=1600, lr=3e-3, sharpness=2.0)
    )

    def imagined(self, teacher: LogitEnsemble, student: Network, rng: Generator) -> Tensor:
        """The new images of one lesson."""
        labels = torch.randint(teacher.blueprint.class_count, (self.synthesis.batch,), generator=rng)
        labels = labels.to(teacher.weights.device)
        return contrasted(self.synthesis(teacher, student, labels, rng), rng)
