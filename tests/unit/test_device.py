"""Clients on other devices, without one: the meta device refuses every tensor that was forgotten on the CPU."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

from mooring import load
from mooring.client import run_client
from mooring.client._checkpoint import restored_state, state_tensors
from mooring.client._device import Device
from mooring.client._loop import facts_of, train_step
from mooring.client._loss_scale import PATIENCE, LossScale
from mooring.client._state import ClientState
from mooring.data._sites import InMemorySite
from mooring.fusion import CoBoosting, Dense, Distil, Server, StudentTraining, Synthesis
from mooring.fusion._distillation.student import trained_pair
from mooring.fusion._distillation.supplies import GaussianPixels
from mooring.methods import METHODS
from mooring.models import Blueprint, Pixels, RandomFilters, WhitenedFilters
from mooring.models._encoders.session import providers_for
from mooring.models._network import Placed, placed_with
from mooring.seeds import generator
from mooring.types import Progress
from mooring.uploads import Encoder, LabelCounts, Prototypes

ELSEWHERE = Device("meta")
BEGINNING, LATER = (
    Progress(0, 100, 0, 5, 0, 10),
    Progress(60, 100, 3, 5, 6, 10),
)  # in stage 1, and after it
TRAINED = [name for name, method in METHODS.items() if method.client.terms]


@pytest.mark.parametrize("method", TRAINED)
def test_a_step_leaves_nothing_on_the_cpu(method, make_job, shard_of):
    job, shard = make_job(method, rounds=10), shard_of(range(10), 2)
    state = ClientState.start(job, facts_of(job, shard.label_counts(), 0), None, ELSEWHERE)
    images, labels = map(ELSEWHERE.take, (shard.images, shard.labels))
    for progress in (BEGINNING, LATER) if METHODS[method].bank else (LATER,):
        measured = train_step(job, state, images, labels, progress)
        state.measurements.add(measured)
    assert all(parameter.is_meta for parameter in state.network.parameters())
    assert all(v.is_meta for group in state.optimizer.groups for v in group.velocity.values())


@pytest.mark.parametrize("features", [Pixels(), RandomFilters(), WhitenedFilters(channels=8)])
def test_frozen_features_are_computed_where_the_network_lies(features, make_job, shard_of):
    blueprint = make_job("afl").blueprint
    network, images = blueprint.build(generator(1)), shard_of(range(10), 2).images
    here = placed_with(features.build(blueprint), network)
    assert here(images).shape == (20, features.size(blueprint))
    assert not isinstance(here, Placed)  # the CPU computes as it always did
    ELSEWHERE.hold(network)
    elsewhere = placed_with(features.build(blueprint), network)
    assert elsewhere(images.to("meta")).is_meta


def test_an_encoder_computes_on_a_gpu_only_if_its_library_can():
    cuda, cpu = "CUDAExecutionProvider", "CPUExecutionProvider"
    assert providers_for("cuda", [cuda, cpu]) == [cuda, cpu]
    assert providers_for("cuda", [cpu]) == providers_for("cpu", [cuda, cpu]) == [cpu]


@pytest.mark.parametrize("rule", [Dense, CoBoosting], ids=lambda rule: rule.kind)
def test_a_student_and_its_teacher_leave_nothing_on_the_cpu(rule, make_job, shard_of):
    job = make_job("ensemble")
    uploads = [p for k in range(2) for p in run_client(job, InMemorySite(k, shard_of(range(10), 2)), lambda _: None)]
    short = rule(lessons=2, synthesis=Synthesis(steps=2, batch=4), study=StudentTraining(steps=4, batch=4))
    server = Server(job.blueprint, device="meta")
    student, teacher = trained_pair(rule.kind, short.imagined, short.lessons, short.study, uploads, server)
    assert student.step == 4
    tensors = [*student.network.state_dict().values(), *teacher.state_dict().values()]
    assert all(tensor.is_meta for tensor in tensors)


def test_a_student_of_any_rule_leaves_nothing_on_the_cpu(make_job, shard_of):
    job = make_job("ensemble", needs=frozenset({Encoder(), Prototypes(), LabelCounts()}) | GaussianPixels().needs)
    uploads = list(run_client(job, InMemorySite(0, shard_of(range(10), 2)), lambda _: None))
    rule = Distil(count=8, study=StudentTraining(steps=2, batch=4))
    student = rule.trained(uploads, Server(job.blueprint, device="meta"))
    assert all(tensor.is_meta for tensor in student.network.state_dict().values())


def test_colours_too(make_job):
    job = make_job("v12")
    coloured = replace(job.blueprint, shape=(3, 16, 16), mean=(0.5,), std=(0.25,))
    assert isinstance(coloured, Blueprint)
    job = replace(job, blueprint=coloured)
    state = ClientState.start(job, facts_of(job, (2,) * 10, 0), None, ELSEWHERE)
    images, labels = torch.zeros(4, 3, 16, 16, dtype=torch.uint8), torch.zeros(4, dtype=torch.int64)
    train_step(job, state, ELSEWHERE.take(images), ELSEWHERE.take(labels), Progress(0, 10))


def test_bfloat16_learns_nearly_the_same(make_job, shard_of):
    shard = shard_of(range(10), 10)
    jobs = [make_job("v7", local_epochs=3, precision=precision) for precision in ("float32", "bfloat16")]
    exact, half = (list(run_client(job, InMemorySite(0, shard), lambda _: None))[-1].tensors for job in jobs)
    assert jobs[0].sha256 == make_job("v7", local_epochs=3).sha256 != jobs[1].sha256
    assert exact.keys() == half.keys()
    assert all(tensor.dtype == half[name].dtype for name, tensor in exact.items())
    p, q = exact["head.prototypes"].flatten(), half["head.prototypes"].flatten()
    assert not torch.equal(p, q)
    assert torch.cosine_similarity(p, q, 0) > 0.99


def test_float16_learns_nearly_the_same_and_goes_on_with_its_loss_scale(make_job, shard_of):
    """The first scales are too large for float16: the scale is halved, and those steps move nothing."""
    shard = shard_of(range(10), 10)
    exact, half = (
        list(run_client(job, InMemorySite(0, shard), lambda _: None))[-1].tensors["head.prototypes"].flatten()
        for job in (make_job("v7", local_epochs=3, precision=precision) for precision in ("float32", "float16"))
    )
    assert not torch.equal(exact, half)
    assert torch.cosine_similarity(exact, half, 0) > 0.99
    job = make_job("v7", precision="float16")
    begin = partial(ClientState.start, job, facts_of(job, shard.label_counts(), 0))
    state = begin()
    state.loss_scale.scale = 2.0**15
    assert restored_state(begin(), state_tensors(state)).loss_scale == state.loss_scale


def test_a_gradient_that_overflows_moves_nothing_and_halves_the_scale():
    weight = nn.Parameter(torch.ones(2))
    scale = LossScale(scale=4.0, finite_steps=PATIENCE - 1)
    scale.backward((torch.tensor([1.0, torch.inf]) * weight).sum(), [weight])
    assert weight.grad is None
    assert (scale.scale, scale.finite_steps) == (2.0, 0)
    scale.backward((3 * weight).sum(), [weight])
    assert weight.grad.tolist() == [3, 3]
    scale.finite_steps = PATIENCE - 1
    scale.backward(weight.sum(), [weight])
    assert scale.scale == 4.0


def test_the_precision_is_part_of_the_fingerprint_and_leaves_old_ones_alone():
    fingerprints = [load(overrides=words)[0].fingerprint() for words in ([], ["training.precision=float32"])]
    assert fingerprints[0] == fingerprints[1]
    assert load(overrides=["training.precision=bfloat16"])[0].fingerprint() != fingerprints[0]


def test_a_gpu_that_is_not_there_is_rejected(cli):
    if torch.cuda.is_available():
        pytest.skip("that a missing GPU is refused: this machine has one")
    code, _, err = cli("run", "engine.device=cuda")
    assert code == 2
    assert "engine.device=cuda: this machine has no GPU that torch can use; set engine.device=auto" in err
