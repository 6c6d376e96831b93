"""Fusions that train at the server: their losses by hand, and students that agree with their teachers."""

from functools import cache
from statistics import fmean

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mooring.client import run_client
from mooring.data._clients import federate
from mooring.data._digits import Digits
from mooring.data._partition import Dirichlet
from mooring.errors import FusionError
from mooring.fusion import ClassExpert, CoBoosting, Dense, Distil
from mooring.fusion._base import Server
from mooring.fusion._distillation.student import StudentTraining, contrasted, steps_in
from mooring.fusion._distillation.supplies import GaussianPixels, PublicImages
from mooring.fusion._distillation.synthesis import (
    ImageGenerator,
    Synthesis,
    boundary_divergence,
    hard_cross_entropy,
    statistics_gap,
)
from mooring.seeds import generator
from mooring.uploads import Encoder, LabelCounts, Prototypes

ENOUGH = 0.9  # of all validation images
FRESH = {Dense: range(41, 47), CoBoosting: range(31, 34)}  # splits on which nothing was chosen


@pytest.fixture(scope="module")
def school(make_job):
    """Five ordinary classifiers after twenty epochs on a split, the server's validation images, and the split."""

    @cache
    def opened(seed, public_ratio=0.0):
        federation = federate(Digits(validation=0.25), Dirichlet(clients=5, alpha=0.5), seed, public_ratio)
        needs = frozenset({Encoder(), Prototypes(), LabelCounts()}) | GaussianPixels().needs
        job = make_job("ensemble", seed=seed, needs=needs, local_epochs=20)
        uploads = [p for k in range(5) for p in run_client(job, federation.sites()[k], lambda _: None)]
        server = Server(job.blueprint, seed, validation=federation.validation, public=federation.public)
        return uploads, server, federation

    return opened


@pytest.fixture(scope="module")
def classroom(school):
    return school(21)[:2]


@pytest.fixture(scope="module")
def federation(school):
    return school(21)[2]


def agreement(student, teacher, images):
    with torch.no_grad():
        return (student(images).argmax(1) == teacher(images).argmax(1)).float().mean().item()


@pytest.mark.slow
@pytest.mark.parametrize("rule", FRESH, ids=lambda r: r.kind)
def test_a_student_that_saw_no_image_agrees_with_its_teacher(rule, school):
    shares = []
    for seed in FRESH[rule]:
        uploads, server, _ = school(seed)
        student, teacher = rule().taught(uploads, server)
        shares.append(agreement(student, teacher, server.validation.images))
    print(rule.kind, [round(share, 3) for share in shares])
    assert fmean(shares) >= ENOUGH  # single splits scatter by about a hundredth


@pytest.mark.slow
def test_a_student_of_gaussian_pixels_agrees_with_its_teacher(classroom):
    uploads, server = classroom
    student = Distil()(uploads, server)
    assert agreement(student, ClassExpert()(uploads, server), server.validation.images) >= ENOUGH


@pytest.mark.slow
def test_a_student_of_public_images_agrees_with_its_teacher(school):
    """A quarter of the training images is nobody's: held out before the others are dealt to the clients."""
    uploads, server, _ = school(21, public_ratio=0.25)
    student = Distil(images=PublicImages(), study=StudentTraining(steps=300))(uploads, server)
    assert agreement(student, ClassExpert()(uploads, server), server.validation.images) >= ENOUGH


def test_without_public_images_there_is_nothing_to_learn_from(classroom):
    uploads, server = classroom
    with pytest.raises(FusionError, match=r"needs public images.*data.public_ratio=0.1"):
        Distil(images=PublicImages())(uploads, server)
    assert Distil(images=PublicImages()).asks == {"public"}


def test_co_boosting_weighs_its_clients_and_dense_does_not(classroom):
    uploads, server = classroom
    short = {"lessons": 2, "synthesis": Synthesis(steps=5), "study": StudentTraining(steps=4)}
    plain, boosted = (rule(**short).taught(uploads, server)[1].weights for rule in (Dense, CoBoosting))
    torch.testing.assert_close(plain, torch.full((5,), 0.2))
    assert boosted.std() > 0
    assert boosted.sum().item() == pytest.approx(1)


def test_hard_images_weigh_more():
    scores = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    labels = torch.tensor([0, 0])
    p = scores.softmax(1)[:, 0]
    torch.testing.assert_close(hard_cross_entropy(scores, labels, 0.0), F.cross_entropy(scores, labels))
    torch.testing.assert_close(hard_cross_entropy(scores, labels, 1.0), ((1 - p) * -p.log()).mean())


def test_divergence_counts_only_where_the_two_decide_differently():
    teacher = torch.tensor([[3.0, 1.0], [3.0, 1.0]])
    student = torch.tensor([[9.0, 0.0], [0.0, 1.0]])
    p, q = teacher.softmax(1)[1], student.softmax(1)[1]
    torch.testing.assert_close(boundary_divergence(teacher, student), (p * (p / q).log()).sum() / 2)
    assert boundary_divergence(teacher, teacher) == 0


def test_the_statistics_gap_is_zero_for_what_a_batch_norm_remembers():
    x = torch.randn(16, 3, 4, 4, generator=generator(0, "x"))
    norm = nn.BatchNorm2d(3)
    norm.running_mean = x.mean((0, 2, 3))
    norm.running_var = x.var((0, 2, 3), unbiased=False)
    assert statistics_gap(x, norm).item() == pytest.approx(0, abs=1e-5)
    assert statistics_gap(x + 1, norm).item() == pytest.approx(3**0.5, rel=1e-4)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 32, 32), (3, 33, 17)])
def test_a_generator_makes_images_of_any_size(shape):
    generate = ImageGenerator(8, 4, shape, generator(0, "g"))
    images = generate(torch.randn(5, 8, generator=generator(0, "z")))
    assert images.shape == (5, *shape)
    assert 0 < images.min() < images.max() < 1


def test_gaussian_pixels_have_the_mean_of_every_class(classroom, federation):
    uploads, server = classroom
    images = GaussianPixels()(uploads, server, 20_000, generator(0, "p"))
    train = federation.train
    for c in range(10):
        real = train.images[train.labels == c].float().mean(0) / 255
        drawn = images[c::10].mean(0)
        assert (drawn - real).abs().mean() < 0.05  # cut to [0, 1], so not exactly


def test_contrast_keeps_the_mean_of_an_image_and_all_steps_are_taken():
    images = 0.5 + 0.05 * torch.randn(4, 1, 8, 8, generator=generator(0, "i")).clamp(-2, 2)
    raised = contrasted(images, generator(0, "c"))
    torch.testing.assert_close(raised.mean((1, 2, 3)), images.mean((1, 2, 3)))
    assert (raised.std((1, 2, 3)) >= images.std((1, 2, 3))).all()
    assert sum(steps_in(lesson, 7, 100) for lesson in range(7)) == 100
