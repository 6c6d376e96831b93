"""Lessons on imagined images: new ones in each, and all earlier ones again."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from mooring.events import ServerProgress
from mooring.fusion.base import Server
from mooring.fusion.distillation.logit_ensemble import LogitEnsemble
from mooring.fusion.distillation.study import Student

CONTRAST = 2.5  # images are shown with their contrast raised up to this
BATCH = 512


def teach(
    student: Student,
    teacher: LogitEnsemble,
    imagined: Callable[[], Tensor],
    lessons: int,
    server: Server,
    rng: Generator,
) -> None:
    """All lessons of a student; `imagined` makes the new images of one, (N, C, H, W)."""
    study = student.study
    shelf = torch.empty(0, *server.blueprint.shape)
    opinions = torch.empty(len(teacher.clients), 0, server.blueprint.class_count)
    for lesson in range(lessons):
        images = imagined()
        with torch.no_grad():
            new = torch.cat([teacher.apart(batch) for batch in images.split(BATCH)], 1)
        shelf, opinions = torch.cat([shelf, images]), torch.cat([opinions, new], 1)
        scores = teacher.weighed(opinions)
        scores = study.scale(scores) * scores
        for _ in range(steps_in(lesson, lessons, study.steps)):
            chosen = torch.randint(len(shelf), (study.batch,), generator=rng)
            student.learn(shelf[chosen], scores[chosen])
        server.emit(ServerProgress("lessons", lesson + 1, lessons))


def contrasted(images: Tensor, rng: Generator) -> Tensor:
    """m + c (x - m), m the mean of an image, c drawn between 1 and CONTRAST."""
    c = 1 + (CONTRAST - 1) * torch.rand(len(images), 1, 1, 1, generator=rng)
    m = images.mean((1, 2, 3), keepdim=True)
    return (m + c * (images - m)).clamp(0, 1)


def steps_in(lesson: int, lessons: int, steps: int) -> int:
    """Steps of one lesson; all lessons together have exactly `steps`."""
    return (lesson + 1) * steps // lessons - lesson * steps // lessons
