"""Any fusion in one network: as good as its teacher, as cheap as one client."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.events import ServerProgress
from mooring.fusion._base import Fusion, FusionGroup, Images, Made, Server, ServerCost
from mooring.fusion._class_expert import ClassExpert
from mooring.fusion._distillation.student import Student, StudentTraining, first_student
from mooring.fusion._distillation.supplies import GaussianPixels, Supply
from mooring.fusion._merged import Merged
from mooring.fusion._predictor import Predictor
from mooring.processes import threads
from mooring.schema import Count, Doc
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import Parts

BATCH = 512
TELL = 50  # steps between two reports of progress


@dataclass(frozen=True)
class Distil(Fusion):
    """A student of the blueprint learns softmax(s teacher(x)) on images that somebody supplies (Hinton et al. 2015).

    It starts at the average of the clients' networks where they upload them: from there it has less far to go, and its
    batch norms begin with statistics of real images.
    """

    kind: ClassVar[str] = "distil"
    group: ClassVar[FusionGroup] = "one network by training at the server"
    about: ClassVar[str] = (
        "a network trained to answer as another rule (fusion.teacher) does, on drawn or public images"
    )
    reference: ClassVar[str] = "Hinton et al. 2015"
    cost: ClassVar[ServerCost] = "minutes, it trains"
    makes: ClassVar[Made] = (Merged,)
    teacher: Annotated[Fusion, Doc("the rule that the student learns from")] = ClassExpert()
    images: Annotated[Supply, Doc("images that it learns on, see below")] = field(default_factory=GaussianPixels)
    count: Annotated[Count, Doc("most images")] = 4000
    study: Annotated[StudentTraining, Doc("training of the student")] = field(default_factory=StudentTraining)

    @property
    def needs(self) -> Parts:
        return self.teacher.needs | self.images.needs

    @property
    def asks(self) -> frozenset[Images]:
        return self.teacher.asks | self.images.asks

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        return Merged(self.trained(uploads, server).network.cpu().state_dict(), server.blueprint)

    def trained(self, uploads: Sequence[Upload], server: Server) -> Student:
        """The student, still on the device of the server."""
        with threads(1):
            rng = generator(server.seed, self.kind)
            images = self.images(uploads, server, self.count, rng).to(server.device)
            scores = teacher_scores(self.teacher(uploads, server).to(server.device), images)
            scores = self.study.scale(scores) * scores
            student = Student(first_student(uploads, server).to(server.device), self.study)
            for step in range(self.study.steps):
                chosen = torch.randint(len(images), (self.study.batch,), generator=rng).to(server.device)
                student.learn(images[chosen], scores[chosen])
                if step % TELL == 0:
                    server.emit(ServerProgress(self.kind, step, self.study.steps))
        return student


def teacher_scores(teacher: Predictor, images: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.cat([teacher(batch) for batch in images.split(BATCH)])
